import { describe, expect, it } from 'vitest'
import { createApiKeyAdministration } from '../../lib/aws/api-key-administration.ts'
import { createApiKeyStore } from '../../lib/aws/api-key-store.ts'
import { createContainerFiles } from '../../lib/aws/container-files.ts'
import { createDocumentListing } from '../../lib/aws/document-listing.ts'
import { createDocumentObjects } from '../../lib/aws/document-objects.ts'
import { createRateLimiter } from '../../lib/aws/rate-limiter.ts'
import { createWorkspaceAdministration } from '../../lib/aws/workspace-administration.ts'
import { createWorkspaceRemoval } from '../../lib/aws/workspace-removal.ts'
import { createWorkspaceStores } from '../../lib/aws/workspace-stores.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { clientOf, conditionFailed } from '../support/stores/client-of.ts'
import { newDocument, newRelease, newReservation } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()

function adapters({ client } = clientOf()) {
  const MIB = 1024 ** 2
  const config = {
    workspacesTable: 'workspaces',
    documentsTable: 'documents',
    reservationsTable: 'reservations',
    sandboxBucket: 'sandboxes',
    documentsBucket: 'documents',
    keyTemplates: {
      sandbox: '{workspace_id}/{container_id}/{path}',
      document: '{workspace_id}/{document_id}/{attempt_id}',
    },
    multipartThresholdBytes: 10 * MIB,
    minPartBytes: 5 * MIB,
    defaultQuotaBytes: 1000,
    lifetimeSeconds: 1,
  }
  const table = { client, tableName: 'table', now: () => 0 }
  return {
    ...createWorkspaceStores({ config: config as never, dynamoDb: client, s3: client, now: () => 0 }),
    keys: createApiKeyStore(table),
    keyAdministration: createApiKeyAdministration(table),
    administration: createWorkspaceAdministration(table),
    removal: createWorkspaceRemoval(table),
    listing: createDocumentListing(table),
    rateLimiter: createRateLimiter({ ...table, policy: { requestsPerMinute: 60, burst: 5 } }),
    documentObjects: createDocumentObjects({ ...config, client }),
    containerFiles: createContainerFiles({ ...config, client }),
  }
}

const workspaceId = 'ws_1' as WorkspaceId
const reservation = newReservation({ workspaceId })
const release = newRelease(reservation, 'deletion')
const document = newDocument(reservation)
const { documentId } = document
const source = { objectKey: 's', etag: '"e"', sizeBytes: 1, isArchived: false, modifiedAt: new Date(0) } as never
const copy = { source, targetKey: 'd', mimeType: 'text/plain' }
const at = { version: 1, lastVersion: 1 }
const key = { tokenHash: 'h', keyId: 'k', workspaceId, kind: 'standard', permissions: [], isEnabled: true } as never
const segment = { segment: 0, totalSegments: 1, after: undefined }
const list = { keyPrefix: 'p', afterKey: undefined, firstPage: 10 }
const first = (items: AsyncIterable<unknown>) => items[Symbol.asyncIterator]().next()

type Ports = ReturnType<typeof adapters>
/** By the name that logs and traces show. */
const CALLS: [name: string, call: (ports: Ports) => Promise<unknown>][] = [
  ['keys.find', ({ keys }) => keys.find('h' as never, signal)],
  ['keys.add', ({ keyAdministration }) => keyAdministration.add(key, signal)],
  ['keys.list', ({ keyAdministration }) => first(keyAdministration.list({}, signal))],
  ['keys.change', ({ keyAdministration }) => keyAdministration.change('h' as never, { isEnabled: true }, signal)],
  ['keys.remove', ({ keyAdministration }) => keyAdministration.remove('h' as never, signal)],
  ['rateLimit.take', ({ rateLimiter }) => rateLimiter.take('k', signal)],
  ['ledger.take', ({ ledger }) => ledger.take(reservation, signal)],
  ['ledger.mark', ({ ledger }) => ledger.mark(release, signal)],
  ['ledger.schedule', ({ ledger }) => ledger.schedule(reservation, signal)],
  ['ledger.unmark', ({ ledger }) => ledger.unmark(reservation, signal)],
  ['ledger.release', ({ ledger }) => ledger.release(reservation, signal)],
  ['ledger.read', ({ ledger }) => ledger.usage(workspaceId, signal)],
  ['ledger.read', ({ ledgers }) => ledgers.read(workspaceId, signal)],
  ['ledger.list', ({ ledgers }) => first(ledgers.list(signal))],
  ['ledger.list', ({ ledgers }) => first(ledgers.readAll(signal))],
  ['ledger.listDue', ({ ledgers }) => first(ledgers.listDue({ shard: 0, nowMs: 0 }, signal))],
  ['ledger.claim', ({ ledgers }) => ledgers.claim(workspaceId, { seenMs: 0, untilMs: 1 }, signal)],
  ['ledger.reschedule', ({ ledgers }) => ledgers.reschedule(workspaceId, { seenMs: 0, nextMs: 1 } as never, signal)],
  ['ledger.correct', ({ ledgers }) => ledgers.correct(workspaceId, { usedBytes: 0, expectedBytes: 1, at }, signal)],
  ['ledger.createWorkspace', ({ ledgers }) => ledgers.correct(workspaceId, { usedBytes: 0, expectedBytes: 1 }, signal)],
  ['ledger.createWorkspace', ({ administration }) => administration.create(workspaceId, 1, signal)],
  ['ledger.read', ({ administration }) => administration.setQuota(workspaceId, 1, signal)],
  ['ledger.removeWorkspace', ({ removal }) => removal.remove(workspaceId, 1, signal)],
  ['reservations.claim', ({ reservations }) => reservations.claim(reservation, signal)],
  ['reservations.open', ({ reservations }) => reservations.open(reservation, false, signal)],
  ['reservations.find', ({ reservations }) => reservations.find(reservation, signal)],
  ['reservations.forestall', ({ reservations }) => reservations.forestall(reservation, false, signal)],
  ['reservations.forestall', ({ reservations }) => reservations.forestall(reservation, true, signal)],
  ['reservations.close', ({ reservations }) => reservations.close(release, signal)],
  ['reservations.remove', ({ reservations }) => reservations.remove(reservation, signal)],
  ['reservations.note', ({ reservations }) => reservations.note('deletion', reservation, signal)],
  ['reservations.removeNote', ({ reservations }) => reservations.removeNote('deletion', reservation, signal)],
  ['reservations.list', ({ reservations }) => first(reservations.list(workspaceId, signal))],
  ['reservations.listWorkspaces', ({ reservations }) => first(reservations.listWorkspaces(segment, signal))],
  ['reservations.hasWorkspace', ({ reservations }) => reservations.hasWorkspace(workspaceId, signal)],
  ['documents.record', ({ documents }) => documents.record(document, signal)],
  ['documents.fence', ({ documents }) => documents.fence(reservation, signal)],
  ['documents.find', ({ documents }) => documents.find(workspaceId, documentId, signal)],
  ['documents.retire', ({ documents }) => documents.retire(release, signal)],
  ['documents.close', ({ documents }) => documents.close({ ...release, markedIn: 1 }, signal)],
  ['documents.finish', ({ documents }) => documents.finish(release, signal)],
  ['documents.addToListing', ({ documents }) => documents.addToListing(document, signal)],
  ['documents.list', ({ documents }) => first(documents.list(workspaceId, signal))],
  ['documents.listRows', ({ documents }) => first(documents.listRows(workspaceId, signal))],
  ['documents.listWorkspaces', ({ documents }) => first(documents.listWorkspaces(segment, signal))],
  ['documents.hasWorkspace', ({ documents }) => documents.hasWorkspace(workspaceId, signal)],
  ['documents.list', ({ listing }) => listing.page({ workspaceId, order: 'asc', after: undefined, limit: 1 }, signal)],
  ['documents.findAll', ({ listing }) => listing.findAll(workspaceId, [documentId], signal)],
  ['documents.find', ({ listing }) => listing.positionOf(workspaceId, documentId, signal)],
  ['HeadObject', ({ objects }) => objects.findContainerFile('s', signal)],
  ['HeadObject', ({ objects }) => objects.hasObject('d', signal)],
  ['HeadObject', ({ documentObjects }) => documentObjects.findDocumentObject('d', signal)],
  ['GetObject', ({ objects }) => objects.readStart(source, 1, signal)],
  ['CopyObject', ({ objects }) => objects.copy(copy, signal)],
  ['ListObjectsV2', ({ objects }) => objects.hasContainer('p', signal)],
  ['ListObjectsV2', ({ objects }) => first(objects.listObjects('p', signal))],
  ['ListObjectsV2', ({ objects }) => first(objects.listPrefixes('p', signal))],
  ['ListObjectsV2', ({ containerFiles }) => containerFiles.hasContainer('p', signal)],
  ['ListObjectsV2', ({ containerFiles }) => first(containerFiles.listContainerFiles(list, signal))],
  ['ListMultipartUploads', ({ objects }) => first(objects.listUploads('p', signal))],
]

describe('a call that fails is named in its error', () => {
  it.each(CALLS)('%s', async (name, call) => {
    await expect(call(adapters())).rejects.toMatchObject({ call: name })
  })

  it.each<[string, Parameters<typeof clientOf>[0], (ports: Ports) => Promise<unknown>]>([
    [
      'ledger.createWorkspace',
      // The ledger's update finds no item.
      { UpdateItemCommand: () => conditionFailed() },
      ({ ledger }) => ledger.take(reservation, signal),
    ],
    [
      'ledger.setQuota',
      {
        GetItemCommand: () => ({
          Item: { workspace_id: { S: 'ws_1' }, quota_bytes: { N: '1' }, remaining_bytes: { N: '1' } },
        }),
      },
      ({ administration }) => administration.setQuota(workspaceId, 2, signal),
    ],
    ['DeleteObject', { ListMultipartUploadsCommand: () => ({}) }, ({ objects }) => objects.discard('d', signal)],
    [
      'AbortMultipartUpload',
      { ListMultipartUploadsCommand: () => ({ Uploads: [{ Key: 'd', UploadId: 'u' }] }) },
      ({ objects }) => objects.discard('d', signal),
    ],
  ])('%s, which comes second', async (name, answers, call) => {
    await expect(call(adapters(clientOf(answers)))).rejects.toMatchObject({ call: name })
  })
})
