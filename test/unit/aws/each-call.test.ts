import { describe, expect, it } from 'vitest'
import { createApiKeyAdministration } from '../../../lib/aws/dynamodb/api-key-administration.ts'
import { createApiKeyStore } from '../../../lib/aws/dynamodb/api-key-store.ts'
import { createDocumentListing } from '../../../lib/aws/dynamodb/document-listing.ts'
import { createRateLimiter } from '../../../lib/aws/dynamodb/rate-limiter.ts'
import { createWorkspaceAdministration } from '../../../lib/aws/dynamodb/workspace-administration.ts'
import { createWorkspaceRemoval } from '../../../lib/aws/dynamodb/workspace-removal.ts'
import { createContainerFiles } from '../../../lib/aws/s3/container-files.ts'
import { createDocumentObjects } from '../../../lib/aws/s3/document-objects.ts'
import { createWorkspaceStores } from '../../../lib/aws/workspace-stores.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { clientOf, conditionFailed, refused } from '../../support/stores/client-of.ts'
import { newAttempt, newDocument, newRelease } from '../../support/stores/ledger-values.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

skipWaits()

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
const reservation = newAttempt({ workspaceId })
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
  ['ledger.take', ({ quota }) => quota.take(reservation, signal)],
  ['ledger.mark', ({ quota }) => quota.mark(release, signal)],
  ['ledger.schedule', ({ quota }) => quota.schedule(reservation, signal)],
  ['ledger.unmark', ({ quota }) => quota.unmark(reservation, signal)],
  ['ledger.release', ({ quota }) => quota.release(reservation, signal)],
  ['ledger.read', ({ quota }) => quota.usage(workspaceId, signal)],
  ['ledger.read', ({ workspaces }) => workspaces.read(workspaceId, signal)],
  ['ledger.list', ({ workspaces }) => first(workspaces.list(signal))],
  ['ledger.list', ({ workspaces }) => first(workspaces.readAll(signal))],
  ['ledger.listDue', ({ workspaces }) => first(workspaces.listDue({ shard: 0, nowMs: 0 }, signal))],
  ['ledger.lease', ({ workspaces }) => workspaces.lease(workspaceId, { seenMs: 0, untilMs: 1 }, signal)],
  [
    'ledger.reschedule',
    ({ workspaces }) => workspaces.reschedule(workspaceId, { seenMs: 0, nextMs: 1 } as never, signal),
  ],
  [
    'ledger.correct',
    ({ workspaces }) => workspaces.correct(workspaceId, { usedBytes: 0, expectedBytes: 1, at }, signal),
  ],
  [
    'ledger.createWorkspace',
    ({ workspaces }) => workspaces.correct(workspaceId, { usedBytes: 0, expectedBytes: 1 }, signal),
  ],
  ['ledger.createWorkspace', ({ administration }) => administration.create(workspaceId, 1, signal)],
  ['ledger.read', ({ administration }) => administration.setQuota(workspaceId, 1, signal)],
  ['ledger.removeWorkspace', ({ removal }) => removal.remove(workspaceId, 1, signal)],
  ['reservations.claim', ({ reservations }) => reservations.claim(reservation, signal)],
  ['reservations.reserve', ({ reservations }) => reservations.reserve(reservation, false, signal)],
  ['reservations.find', ({ reservations }) => reservations.find(reservation, signal)],
  ['reservations.fence', ({ reservations }) => reservations.fence(reservation, false, signal)],
  ['reservations.fence', ({ reservations }) => reservations.fence(reservation, true, signal)],
  ['reservations.handOver', ({ reservations }) => reservations.handOver(release, signal)],
  ['reservations.remove', ({ reservations }) => reservations.remove(reservation, signal)],
  ['reservations.note', ({ reservations }) => reservations.note('deletion', reservation, signal)],
  ['reservations.removeNote', ({ reservations }) => reservations.removeNote('deletion', reservation, signal)],
  ['reservations.list', ({ reservations }) => first(reservations.list(workspaceId, signal))],
  ['reservations.listWorkspaces', ({ reservations }) => first(reservations.listWorkspaces(segment, signal))],
  ['reservations.hasWorkspace', ({ reservations }) => reservations.hasWorkspace(workspaceId, signal)],
  ['documents.record', ({ documents }) => documents.record(document, signal)],
  ['documents.fence', ({ documents }) => documents.fence(reservation, signal)],
  ['documents.find', ({ documents }) => documents.find(workspaceId, documentId, signal)],
  ['documents.delete', ({ documents }) => documents.delete(release, signal)],
  ['documents.handOver', ({ documents }) => documents.handOver({ ...release, markedIn: 1 }, signal)],
  ['documents.expire', ({ documents }) => documents.expire(release, signal)],
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
      ({ quota }) => quota.take(reservation, signal),
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

/** What a write is answered with. */
const FAILURES = {
  'its answer is lost': () => Object.assign(new Error('lost'), { name: 'TimeoutError' }),
  'it is answered with 500': () => refused(500, 'InternalServerError'),
  'it is throttled': () => refused(400, 'ThrottlingException'),
}

/** The stores on a client whose first two writes fail; reads find a workspace. */
function failingTwice(failure: () => Error) {
  let writes = 0
  const write = () => (++writes <= 2 ? failure() : {})
  const workspace = { workspace_id: { S: 'ws_1' }, quota_bytes: { N: '1000' }, remaining_bytes: { N: '900' } }
  const found = clientOf({
    GetItemCommand: () => ({ Item: workspace }),
    PutItemCommand: write,
    DeleteItemCommand: write,
    UpdateItemCommand: () => {
      const answer = write()
      const Attributes = { ...workspace, record_kind: { S: 'tombstone' }, version: { N: '7' } }
      return answer instanceof Error ? answer : { Attributes }
    },
  })
  return { ports: adapters(found), writes: () => writes }
}

const OPENINGS = new Map<string, (ports: Ports) => Promise<unknown>>([
  ['ledger.take', ({ quota }) => quota.take(reservation, signal, 6000)],
  ['ledger.mark', ({ quota }) => quota.mark(release, signal, 6000)],
  ['ledger.setQuota', ({ administration }) => administration.setQuota(workspaceId, 5000, signal)],
  ...CALLS.filter(([name]) => /^(reservations\.(claim|reserve)|documents\.record)$/.test(name)),
  ...CALLS.filter(([name, call]) => name === 'ledger.createWorkspace' && String(call).includes('correct')),
])
const CLOSINGS = CALLS.filter(([name]) =>
  /\.(unmark|release|schedule|lease|reschedule|correct|removeWorkspace|fence|handOver|remove|note|removeNote|delete|expire)$/.test(
    name,
  ),
).filter(([name]) => name !== 'keys.remove')

const each = (calls: Iterable<[string, (ports: Ports) => Promise<unknown>]>, failures: string[]) =>
  [...calls].flatMap(([name, call]) => failures.map((what) => ({ name, what: what as keyof typeof FAILURES, call })))

describe('what opens is sent once, what closes may be repeated', () => {
  it('is told of all writes', () => {
    expect([OPENINGS.size, CLOSINGS.length]).toEqual([7, 17])
  })

  it.each(each(OPENINGS, ['its answer is lost', 'it is answered with 500']))(
    '$name is not sent again when $what',
    async ({ call, what }) => {
      const { ports, writes } = failingTwice(FAILURES[what])
      await expect(call(ports)).rejects.toMatchObject({
        reason: 'service_unavailable',
        isUnanswered: what === 'its answer is lost',
      })
      expect(writes()).toBe(1)
    },
  )

  it.each([...each(OPENINGS, ['it is throttled']), ...each(CLOSINGS, Object.keys(FAILURES))])(
    '$name is sent again when $what',
    async ({ call, what }) => {
      const { ports, writes } = failingTwice(FAILURES[what])
      await call(ports)
      expect(writes()).toBe(3)
    },
  )

  it.each(['take', 'mark'] as const)('ledger.%s is tried once where nobody is patient', async (method) => {
    const { ports, writes } = failingTwice(FAILURES['it is throttled'])
    const outcome = await (method === 'take'
      ? ports.quota.take(reservation, signal)
      : ports.quota.mark(release, signal))
    expect([outcome, writes()]).toEqual([method === 'take' ? { outcome: 'crowded' } : 'crowded', 1])
  })
})
