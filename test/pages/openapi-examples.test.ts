import { describe, expect, it } from 'vitest'
import type { ListedDocument } from '../../lib/documents/document-listing.ts'
import { FILE_SHAPES, type FileShape, fileResponse } from '../../lib/http/shapes.ts'
import { examplesOf, OPERATIONS_OF_PAGE, shownWith } from './openapi-operations.ts'

describe('the examples of docs/openapi.yaml', () => {
  const WITH_FILES = ['promoteContainerFile', 'listDocuments', 'retrieveDocument', 'deleteDocument']
  it.each(WITH_FILES)('show the answer of %s in each dialect', (operationId) => {
    const examples = OPERATIONS_OF_PAGE.filter((each) => each.operationId === operationId).flatMap(examplesOf)
    const shapes = examples.flatMap(({ body }) => (body as { _shape?: string })._shape ?? [])
    expect(shapes.toSorted()).toEqual([...FILE_SHAPES].toSorted())
  })

  it.each(OPERATIONS_OF_PAGE)('show every answer of $operationId', (operation) => {
    const shown = new Set(examplesOf(operation).map(({ status }) => status))
    expect([...shown].toSorted()).toEqual(Object.keys(operation.responses).toSorted())
  })

  it('show files as the code writes them: in each dialect, what the native example says', () => {
    const files = shownWith<ShownFile>('filename', '_shape')
    const natives = new Map(files.filter(({ _shape }) => _shape === 'native').map((file) => [file.id, file]))
    for (const file of files) {
      const native = natives.get(file.id)
      if (!native) throw new Error(`${file.id} has no native example`)
      const document = {
        documentId: native.id,
        filename: native.filename,
        mimeType: native.mime_type,
        sizeBytes: native.size_bytes,
        createdAt: new Date(native.created_at ?? ''),
        ...(native.expires_at && { expiresAt: new Date(native.expires_at) }),
        containerId: native.container_id,
        sha256: file.sha256,
      } as unknown as ListedDocument
      expect(file).toEqual(fileResponse(document, { shape: file._shape, label: file._shape }))
    }
  })
})

type ShownFile = Record<string, unknown> & {
  _shape: FileShape
  id: string
  created_at?: string
  expires_at?: string
}
