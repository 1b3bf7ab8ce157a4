import type { DocumentMaintenance } from '../../audit/ports/document-maintenance.ts'
import { readAuditedItem } from './audited-item.ts'
import { documentKey, readDocument } from './document-item.ts'
import { readItems } from './stored-item.ts'
import { openTable, type TableSettings } from './table.ts'

export function createDocumentMaintenance(settings: TableSettings): DocumentMaintenance {
  const table = openTable(settings)
  return {
    async *list(workspaceId, signal, onUnreadable) {
      for await (const items of table.pagesOf(workspaceId, { name: 'documents.list', signal })) {
        const documents = items.filter(({ record_kind }) => record_kind?.S === 'document')
        yield* readItems(documents, readDocument, onUnreadable)
      }
    },

    async *listItems(workspaceId, signal, { onUnreadable, after } = {}) {
      const start = { after: after && documentKey(workspaceId, after) }
      for await (const items of table.pagesOf(workspaceId, { name: 'documents.listItems', signal }, start)) {
        yield* readItems(items, readAuditedItem, onUnreadable)
      }
    },
  }
}
