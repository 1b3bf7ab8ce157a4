import { expect } from 'vitest'
import { createDocumentListing } from '../../../lib/aws/document-listing.ts'
import type { DocumentId } from '../../../lib/ids.ts'
import {
  afterLeases,
  type ConsistentRead,
  collect,
  dieAfter,
  KEY,
  ofTable,
  promote,
  withFile,
} from './consistent-read.ts'
import type { TestProcess } from './test-process.ts'

const signal = AbortSignal.timeout(600_000)
const listing = (process: TestProcess) =>
  createDocumentListing({ client: process.dynamoDb, tableName: process.config.documentsTable })

/** Of documents and of reservations. */
export const READS_OF_DOCUMENTS: readonly ConsistentRead[] = [
  {
    read: 'the document of an Idempotency-Key',
    promise: 'a repetition gets the document of the first request',
    isRead: ofTable('-documents', 'GetItem'),
    async check(process, reading) {
      const workspace = await withFile(process)
      const first = await promote(process, workspace, KEY)
      const second = await reading(() => promote(process, workspace, KEY))
      expect(second).toMatchObject({ status: 200, body: first.body, headers: { 'idempotency-replayed': 'true' } })
    },
  },
  {
    read: 'the rows of a workspace',
    promise: 'the audit misses no document',
    isRead: ofTable('-documents', 'Query'),
    async check(process, reading) {
      const workspace = await withFile(process)
      await promote(process, workspace)
      expect(await reading(() => process.audit(workspace.workspaceId, false))).toEqual([])
    },
  },
  {
    read: 'the documents of a workspace',
    promise: 'a platform team sees what was just promoted',
    isRead: ofTable('-documents', 'Query'),
    async check(process, reading) {
      const workspace = await withFile(process)
      const { id } = (await promote(process, workspace)).body as { id: DocumentId }
      const listed = await reading(() => collect(process.deps.documents.list(workspace.workspaceId, signal)))
      expect(listed.map(({ documentId }) => documentId)).toEqual([id])
    },
  },
  {
    read: 'whether a workspace has documents',
    promise: 'a shard of the audit leaves a workspace to the shard that has its rows',
    isRead: ofTable('-documents', 'Query'),
    async check(process, reading) {
      const workspace = await withFile(process)
      await promote(process, workspace)
      expect(await reading(() => process.deps.documents.hasWorkspace(workspace.workspaceId, signal))).toBe(true)
    },
  },
  {
    read: 'documents by their ids',
    promise: 'what was just promoted is among them',
    isRead: ofTable('-documents', 'GetItem'),
    async check(process, reading) {
      const workspace = await withFile(process)
      const { id } = (await promote(process, workspace)).body as { id: DocumentId }
      const found = await reading(() => listing(process).findAll(workspace.workspaceId, [id], signal))
      expect(found.map(({ documentId }) => documentId)).toEqual([id])
    },
  },
  {
    read: 'where a document stands in the order of creation',
    promise: 'a listing goes on behind the newest',
    isRead: ofTable('-documents', 'GetItem'),
    async check(process, reading) {
      const workspace = await withFile(process)
      const { id } = (await promote(process, workspace)).body as { id: DocumentId }
      const position = await reading(() => listing(process).positionOf(workspace.workspaceId, id, signal))
      expect(position).toMatchObject({ documentId: id })
    },
  },
  {
    read: 'the reservation of a twin',
    promise: 'a repetition is not refused for good because the file has gone, while its first request may be running',
    isRead: ofTable('-reservations', 'GetItem'),
    async check(process, reading) {
      const workspace = await withFile(process)
      await dieAfter(process, 'reservations.open', () => promote(process, workspace, KEY))
      await process.removeFile(workspace, 'a.txt')
      const { status, body } = await reading(() => promote(process, workspace, KEY))
      expect({ status, body }).toMatchObject({
        status: 503,
        body: { error: { metadata: { reason: 'promotion_in_progress' } } },
      })
    },
  },
  {
    read: 'the reservations of a workspace',
    promise: 'the bytes of a dead promotion are given back once, and nothing is left',
    isRead: ofTable('-reservations', 'Query'),
    async check(process, reading) {
      const workspace = await withFile(process)
      await dieAfter(process, 'reservations.open', () => promote(process, workspace, KEY))
      await afterLeases(process, () => reading(() => process.resolveWorkspace(workspace.workspaceId)))
      expect(await process.stateOf(workspace)).toMatchObject({ usedBytes: 0, reservations: 0 })
    },
  },
]
