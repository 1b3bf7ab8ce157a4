import { expect } from 'vitest'
import { newApiKeyRecord } from '../../../lib/auth/api-key-administration.ts'
import { hashToken, newToken } from '../../../lib/auth/api-token.ts'
import {
  administration,
  afterLeases,
  type ConsistentRead,
  dieAfter,
  FILE,
  KEY,
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
    read: 'the ledger of a workspace, by the resolver',
    promise: 'what a dead process left is finished',
    isRead: ofTable('-workspaces', 'GetItem'),
    async check(process, reading) {
      const workspace = await withFile(process, 1000)
      await dieAfter(process, 'ledger.take', () => promote(process, workspace))
      expect(await process.stateOf(workspace)).toMatchObject({ usedBytes: FILE.length, reservations: 1 })
      await afterLeases(process, () => reading(() => process.resolveWorkspace(workspace.workspaceId)))
      expect(await process.stateOf(workspace)).toMatchObject({ usedBytes: 0, reservations: 0 })
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
  shows(
    'the document of an Idempotency-Key',
    'a repetition gets the document of the first request',
    ofTable('-documents', 'GetItem'),
    {
      make: withDocument,
      look: (process, workspace) => promote(process, workspace, KEY),
      seen: ({ body }) => {
        const headers = expect.objectContaining({ 'idempotency-replayed': 'true' })
        return expect.objectContaining({ status: 200, body, headers })
      },
    },
  ),
  shows('the rows of a workspace', 'the audit misses no document', ofTable('-documents', 'Query'), {
    make: withDocument,
    look: (process, { workspaceId }) => process.audit(workspaceId, false),
    seen: () => [],
  }),
  shows('the documents of a workspace', 'a platform team sees what was just promoted', ofTable('-documents', 'Query'), {
    make: withDocument,
    look: (process, { workspaceId }) => Array.fromAsync(process.deps.documents.list(workspaceId, signal)),
    seen: ({ id }) => [expect.objectContaining({ documentId: id })],
  }),
  shows(
    'whether a workspace has documents',
    'a shard of the audit leaves a workspace to the shard that has its rows',
    ofTable('-documents', 'Query'),
    {
      make: withDocument,
      look: (process, { workspaceId }) => process.deps.documents.hasWorkspace(workspaceId, signal),
      seen: () => true,
    },
  ),
  shows('documents by their ids', 'what was just promoted is among them', ofTable('-documents', 'GetItem'), {
    make: withDocument,
    look: (process, { workspaceId, id }) => listing(process).findAll(workspaceId, [id], signal),
    seen: ({ id }) => [expect.objectContaining({ documentId: id })],
  }),
  shows(
    'where a document stands in the order of creation',
    'a listing goes on behind the newest',
    ofTable('-documents', 'GetItem'),
    {
      make: withDocument,
      look: (process, { workspaceId, id }) => listing(process).positionOf(workspaceId, id, signal),
      seen: ({ id }) => expect.objectContaining({ documentId: id }),
    },
  ),
  {
    read: 'the reservation of a twin',
    promise: 'a repetition is not refused for good because the file has gone, while its first request may be running',
    isRead: ofTable('-reservations', 'GetItem'),
    async check(process, reading) {
      const workspace = await withFile(process)
      await dieAfter(process, 'reservations.reserve', () => promote(process, workspace, KEY))
      await process.removeFile(workspace, 'a.txt')
      const body = { error: { metadata: { reason: 'promotion_in_progress' } } }
      expect(await reading(() => promote(process, workspace, KEY))).toMatchObject({ status: 503, body })
    },
  },
  {
    read: 'the reservations of a workspace',
    promise: 'the bytes of a dead promotion are given back once, and nothing is left',
    isRead: ofTable('-reservations', 'Query'),
    async check(process, reading) {
      const workspace = await withFile(process)
      await dieAfter(process, 'reservations.reserve', () => promote(process, workspace, KEY))
      await afterLeases(process, () => reading(() => process.resolveWorkspace(workspace.workspaceId)))
      expect(await process.stateOf(workspace)).toMatchObject({ usedBytes: 0, reservations: 0 })
    },
  },
]

export const CONSISTENT_READS: readonly ConsistentRead[] = [...OF_LEDGERS, ...OF_DOCUMENTS]
