import { expect } from 'vitest'
import { newApiKeyRecord } from '../../../lib/auth/api-key-administration.ts'
import { hashToken, newToken } from '../../../lib/auth/api-token.ts'
import type { PendingDocument } from '../../../lib/ledger/ports/documents.ts'
import { deadlineIn } from '../api/rest-event.ts'
import {
  administration,
  type ConsistentRead,
  call,
  dieAfter,
  FILE,
  keys,
  listing,
  ofTable,
  promote,
  shows,
  signal,
  withDocument,
  withFile,
} from './consistent-read.ts'

const OF_LEDGERS: ConsistentRead[] = [
  {
    read: 'the API key of a request',
    promise: 'a key that was disabled is refused from then on',
    isRead: ofTable('-keys', 'GetItem'),
    async check(process, reading) {
      const workspace = await withFile(process)
      expect((await promote(process, workspace)).status).toBe(200)
      await keys(process).change(hashToken(workspace.token), { isEnabled: false }, signal)
      expect((await promote(process, workspace)).status).toBe(401)
      await keys(process).change(hashToken(workspace.token), { isEnabled: true }, signal)
      expect((await reading(() => promote(process, workspace))).status).toBe(200)
    },
  },
  shows('the list of API keys', 'it shows the key that was just added', ofTable('-keys', 'Scan'), {
    async make(process) {
      const { workspaceId } = await process.newWorkspace()
      const grant = {
        workspaceId,
        kind: 'standard',
        permissions: [],
        userId: undefined,
        expiresAtMs: undefined,
      } as const
      const key = newApiKeyRecord(newToken(), grant, Date.now())
      await keys(process).add(key, signal)
      return key
    },
    look: (process, { keyId }) => Array.fromAsync(keys(process).list({ keyId }, signal)),
    seen: (key) => [key],
  }),
  shows(
    'the ids of all workspaces',
    'the audit leaves none out',
    (operation, input) => ofTable('-workspaces', 'Scan')(operation, input) && input.ProjectionExpression !== undefined,
    {
      make: (process) => process.newWorkspace(1000),
      look: (process) => Array.fromAsync(process.deps.workspaces.list(signal)),
      seen: ({ workspaceId }) => expect.arrayContaining([workspaceId]),
    },
  ),
  shows('the list of workspaces', 'it shows the one that was just made', ofTable('-workspaces', 'Scan'), {
    make: (process) => process.newWorkspace(1000),
    look: (process) => Array.fromAsync(process.deps.workspaces.readAll(signal)),
    seen: ({ workspaceId }) => expect.arrayContaining([expect.objectContaining({ workspaceId })]),
  }),
  {
    read: 'the ledger of a workspace, by a promotion',
    promise: 'the bytes of a deleted document are free at once',
    isRead: ofTable('-workspaces', 'GetItem'),
    async check(process, reading, rest) {
      const { id, ...workspace } = await withDocument(process, FILE.length)
      rest()
      expect((await call(process, workspace, 'delete_document', id)).status).toBe(200)
      expect((await reading(() => promote(process, workspace))).status).toBe(200)
    },
  },
  shows(
    'the ledger of a workspace, by its administration',
    'it is there right after it was made',
    ofTable('-workspaces', 'GetItem'),
    {
      make: (process) => process.newWorkspace(1000),
      look: (process, { workspaceId }) => administration(process).create(workspaceId, 500, signal),
      seen: () => ({ isNew: false, usage: { quotaBytes: 1000, usedBytes: 0 } }),
    },
  ),
]

const OF_DOCUMENTS: ConsistentRead[] = [
  shows('a document', 'it is there right after it was promoted', ofTable('-documents', 'GetItem'), {
    make: (process) => withDocument(process),
    look: (process, { id, ...workspace }) => call(process, workspace, 'retrieve_document', id),
    seen: () => expect.objectContaining({ status: 200 }),
  }),
  shows('what is due', 'the resolver goes by what it says', ofTable('-documents', 'GetItem'), {
    async make(process) {
      const workspace = await withFile(process)
      await dieAfter(process, 'documents.begin', () => promote(process, workspace))
      const [pending] = await Array.fromAsync(process.deps.documents.list(workspace.workspaceId, signal))
      return pending as PendingDocument & { itemId: string }
    },
    look: (process, pending) => process.deps.dueWork.findDue(pending, signal),
    seen: ({ attemptId }) => expect.objectContaining({ attemptId, state: 'pending' }),
  }),
  {
    read: 'the stray of an attempt',
    promise: 'the audit takes no object of an undo under way for one without a document',
    isRead: (operation, input) =>
      ofTable('-documents', 'GetItem')(operation, input) && JSON.stringify(input.Key).includes('/'),
    async check(process, reading) {
      const workspace = await withFile(process)
      process.breakCalls(({ name }) => (name === 'CopyObject' ? { kind: 'late' } : undefined))
      expect((await process.promote(workspace, 'a.txt', { remainingMs: deadlineIn(1000) })).status).toBe(503)
      process.restart()
      await process.deliverLate()
      expect(await process.stateOf(workspace)).toMatchObject({ objects: 1, strays: 1 })
      expect(await reading(() => process.audit(workspace.workspaceId, false))).toEqual([])
    },
  },
  shows('the items of a workspace', 'the audit misses no document', ofTable('-documents', 'Query'), {
    make: (process) => withDocument(process),
    look: (process, { workspaceId }) => process.audit(workspaceId, false),
    seen: () => [],
  }),
  shows(
    'whether a workspace has documents',
    'a shard of the audit leaves a workspace to the shard that has its rows',
    ofTable('-documents', 'Query'),
    {
      make: (process) => withDocument(process),
      look: (process, { workspaceId }) => process.deps.documents.hasWorkspace(workspaceId, signal),
      seen: () => true,
    },
  ),
  shows('documents by their ids', 'what was just promoted is among them', ofTable('-documents', 'GetItem'), {
    make: (process) => withDocument(process),
    look: (process, { workspaceId, id }) => listing(process).findAll(workspaceId, [id], signal),
    seen: ({ id }) => [expect.objectContaining({ documentId: id })],
  }),
  shows(
    'where a document stands in the order of creation',
    'a listing goes on behind the newest',
    ofTable('-documents', 'GetItem'),
    {
      make: (process) => withDocument(process),
      look: (process, { workspaceId, id }) => listing(process).positionOf(workspaceId, id, signal),
      seen: ({ id }) => expect.objectContaining({ documentId: id }),
    },
  ),
  {
    read: 'what was made of files',
    promise: 'a repetition gets their documents, although they have filled the quota',
    isRead: ofTable('-documents', 'GetItem'),
    async check(process, reading) {
      const workspace = await withFile(process, FILE.length)
      const promoteAll = async () => {
        const request = { parameters: { container_id: 'sess_1' }, body: { prefix: '' } }
        const { body } = await process.call('promote_container_files', workspace, request)
        return (body as { data: { outcome: string }[] }).data.map(({ outcome }) => outcome)
      }
      expect(await promoteAll()).toEqual(['promoted'])
      expect(await reading(promoteAll)).toEqual(['kept'])
    },
  },
]

export const CONSISTENT_READS: readonly ConsistentRead[] = [...OF_LEDGERS, ...OF_DOCUMENTS]
