import { describe, expect, it, vi } from 'vitest'
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

/** Nobody looks where a call goes: tables and buckets need no names. */
function adapters({ client } = clientOf()) {
  const buckets = { sandboxBucket: '', documentsBucket: '', multipartThresholdBytes: 1000, minPartBytes: 1 }
  const config = { ...buckets, keyTemplates: { sandbox: '', document: '' }, defaultQuotaBytes: 1000 } as never
  const table = { client, tableName: '', now: () => 0 }
  return {
    ...createWorkspaceStores({ config, dynamoDb: client, s3: client, now: () => 0 }),
    keys: createApiKeyStore(table),
    apiKeys: createApiKeyAdministration(table),
    administration: createWorkspaceAdministration(table),
    removal: createWorkspaceRemoval(table),
    listing: createDocumentListing(table),
    rateLimiter: createRateLimiter({ ...table, policy: { requestsPerMinute: 60, burst: 5 } }),
    documentObjects: createDocumentObjects({ ...buckets, client }),
    containerFiles: createContainerFiles({ ...buckets, client }),
  }
}

const workspaceId = 'ws_1' as WorkspaceId
const reservation = newAttempt({ workspaceId })
const release = newRelease(reservation, 'deletion')
const document = newDocument(reservation)
const { documentId } = document
const source = { objectKey: 's', etag: '"e"', sizeBytes: 1, isArchived: false, modifiedAt: new Date(0) } as never
const copy = { source, objectKey: 'd', mimeType: 'text/plain' }
const looked = { seenDueAtMs: 0, nextMs: 1 } as never
const drift = { usedBytes: 0, expectedBytes: 1 }
const at = { version: 1, lastVersion: 1 }
const quota = { shownBytes: 1, toBytes: 2 }
const key = { tokenHash: 'h', keyId: 'k', workspaceId, kind: 'standard', permissions: [], isEnabled: true } as never
const shard = { shard: 0, totalShards: 1, after: undefined }
const list = { keyPrefix: 'p', afterKey: undefined, firstPage: 10 }
const first = (items: AsyncIterable<unknown>) => items[Symbol.asyncIterator]().next()

type Ending = { end(signal: AbortSignal): Promise<unknown> }
type Call = (ports: ReturnType<typeof adapters>) => Promise<unknown>
/** By the name that logs and traces show; what a call writes opens something, or closes it. */
const CALLS: [name: string, call: Call, writes?: 'opens' | 'closes'][] = [
  ['keys.find', ({ keys }) => keys.find('h' as never, signal)],
  ['keys.add', ({ apiKeys }) => apiKeys.add(key, signal), 'closes'],
  ['keys.list', ({ apiKeys }) => first(apiKeys.list({}, signal))],
  ['keys.change', ({ apiKeys }) => apiKeys.change('h' as never, { isEnabled: true }, signal), 'closes'],
  ['keys.remove', ({ apiKeys }) => apiKeys.remove('h' as never, signal), 'closes'],
  ['rateLimit.take', ({ rateLimiter }) => rateLimiter.take('k', signal), 'closes'],
  ['rateLimit.beginWait', ({ rateLimiter }) => rateLimiter.beginWait('k', 1, signal), 'closes'],
  ['ledger.take', ({ quota }) => quota.take(reservation, signal, 6000), 'opens'],
  ['ledger.mark', ({ quota }) => quota.mark(release, signal, 6000), 'opens'],
  ['ledger.schedule', ({ quota }) => quota.schedule(reservation, signal), 'closes'],
  ['ledger.unmark', ({ quota }) => quota.unmark(reservation, signal), 'closes'],
  ['ledger.giveBack', ({ quota }) => quota.giveBack(reservation, signal), 'closes'],
  ['ledger.read', ({ quota }) => quota.usage(workspaceId, signal)],
  ['ledger.read', ({ workspaces }) => workspaces.read(workspaceId, signal)],
  ['ledger.list', ({ workspaces }) => first(workspaces.list(signal))],
  ['ledger.list', ({ workspaces }) => first(workspaces.readAll(signal))],
  ['ledger.listDue', ({ workspaces }) => first(workspaces.listDue({ shard: 0, nowMs: 0 }, signal))],
  ['ledger.lease', ({ workspaces }) => workspaces.lease(workspaceId, { seenDueAtMs: 0, untilMs: 1 }, signal), 'closes'],
  ['ledger.reschedule', ({ workspaces }) => workspaces.reschedule(workspaceId, looked, signal), 'closes'],
  ['ledger.correct', ({ workspaces }) => workspaces.correct(workspaceId, { ...drift, at }, signal), 'closes'],
  ['ledger.createWorkspace', ({ workspaces }) => workspaces.correct(workspaceId, drift, signal), 'opens'],
  ['ledger.createWorkspace', ({ administration }) => administration.create(workspaceId, 1, signal), 'closes'],
  ['ledger.setQuota', ({ administration }) => administration.setQuota(workspaceId, quota, signal), 'opens'],
  [
    'ledger.setRetention',
    ({ administration }) => administration.setRetention(workspaceId, { shown: {}, to: {} }, signal),
    'opens',
  ],
  ['ledger.removeWorkspace', ({ removal }) => removal.remove(workspaceId, 1, signal), 'closes'],
  ['reservations.claim', ({ reservations }) => reservations.claim(reservation, signal), 'opens'],
  ['reservations.reserve', ({ reservations }) => reservations.reserve(reservation, false, signal), 'opens'],
  ['reservations.find', ({ reservations }) => reservations.find(reservation, signal)],
  ['reservations.fence', ({ reservations }) => reservations.fence(reservation, false, signal), 'closes'],
  ['reservations.fence', ({ reservations }) => reservations.fence(reservation, true, signal), 'closes'],
  ['reservations.handOver', ({ reservations }) => reservations.handOver(release, signal), 'closes'],
  ['reservations.remove', ({ reservations }) => reservations.remove(reservation, signal), 'closes'],
  ['reservations.note', ({ reservations }) => reservations.note('deletion', reservation, signal), 'closes'],
  ['reservations.removeNote', ({ reservations }) => reservations.removeNote('deletion', reservation, signal), 'closes'],
  ['reservations.list', ({ reservations }) => first(reservations.list(workspaceId, signal))],
  ['reservations.listWorkspaces', ({ reservations }) => first(reservations.listWorkspaces(shard, signal))],
  ['reservations.hasWorkspace', ({ reservations }) => reservations.hasWorkspace(workspaceId, signal)],
  ['documents.record', ({ documents }) => documents.record(document, signal), 'opens'],
  ['documents.fence', ({ documents }) => documents.fence(reservation, signal), 'closes'],
  ['documents.find', ({ documents }) => documents.find(workspaceId, documentId, signal)],
  ['documents.delete', ({ documents }) => documents.delete(release, signal), 'closes'],
  ['documents.handOver', ({ documents }) => documents.handOver({ ...release, markedIn: 1 }, signal), 'closes'],
  ['documents.expireTombstone', ({ documents }) => documents.expireTombstone(release, signal), 'closes'],
  ['documents.list', ({ documents }) => first(documents.list(workspaceId, signal))],
  ['documents.listItems', ({ documents }) => first(documents.listItems(workspaceId, signal))],
  ['documents.listWorkspaces', ({ documents }) => first(documents.listWorkspaces(shard, signal))],
  ['documents.hasWorkspace', ({ documents }) => documents.hasWorkspace(workspaceId, signal)],
  ['documents.list', ({ listing }) => listing.page({ workspaceId, order: 'asc', after: undefined, limit: 1 }, signal)],
  ['documents.findAll', ({ listing }) => listing.findAll(workspaceId, [documentId], signal)],
  ['documents.find', ({ listing }) => listing.positionOf(workspaceId, documentId, signal)],
  ['documents.setExpiry', ({ expiries }) => expiries.setExpiry(document, undefined, signal), 'opens'],
  ['documents.listExpired', ({ expiries }) => first(expiries.listExpired({ shard: 0, nowMs: 0 }, signal))],
  ['documents.nextExpiry', ({ expiries }) => expiries.nextExpiry(workspaceId, 0, signal)],
  ['HeadObject', ({ objects }) => objects.findContainerFile('s', signal)],
  ['HeadObject', ({ objects }) => objects.hasObject('d', signal)],
  ['HeadObject', ({ objects }) => objects.describeObject('d', signal)],
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

  it.each<[string, Parameters<typeof clientOf>[0], Call]>([
    // The ledger's update finds no item.
    ['ledger.createWorkspace', { UpdateItemCommand: conditionFailed }, ({ quota }) => quota.take(reservation, signal)],
    [
      'rateLimit.endWait',
      { UpdateItemCommand: vi.fn().mockReturnValueOnce({}) },
      async ({ rateLimiter }) => ((await rateLimiter.beginWait('k', 1, signal)) as Ending).end(signal),
    ],
    ['DeleteObject', { ListMultipartUploadsCommand: () => ({}) }, ({ objects }) => objects.discard('d', signal)],
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
  const markers = { takings: { M: {} }, releases: { M: {} } }
  const workspace = {
    workspace_id: { S: 'ws_1' },
    quota_bytes: { N: '1000' },
    remaining_bytes: { N: '900' },
    ...markers,
  }
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

const each = (writes: string, failures: (keyof typeof FAILURES)[]) =>
  CALLS.filter(([, , kind]) => kind === writes).flatMap(([name, call]) =>
    failures.map((what) => ({ name, what, call })),
  )

describe('what opens is sent once, what closes may be repeated', () => {
  it.each(each('opens', ['its answer is lost', 'it is answered with 500']))(
    '$name is not sent again when $what',
    async ({ call, what }) => {
      const { ports, writes } = failingTwice(FAILURES[what])
      const isUnanswered = what === 'its answer is lost'
      await expect(call(ports)).rejects.toMatchObject({ reason: 'service_unavailable', isUnanswered })
      expect(writes()).toBe(1)
    },
  )

  it.each([
    ...each('opens', ['it is throttled']),
    ...each('closes', ['its answer is lost', 'it is answered with 500', 'it is throttled']),
  ])('$name is sent again when $what', async ({ call, what }) => {
    const { ports, writes } = failingTwice(FAILURES[what])
    await call(ports)
    expect(writes()).toBe(3)
  })

  it.each(CALLS.filter(([, , kind]) => kind === undefined))('%s writes nothing', async (_, call) => {
    const { ports, writes } = failingTwice(FAILURES['it is throttled'])
    await call(ports).catch(() => {})
    expect(writes()).toBe(0)
  })

  it('a taking and a marker are tried once where nobody is patient', async () => {
    const { ports, writes } = failingTwice(FAILURES['it is throttled'])
    expect(await ports.quota.take(reservation, signal)).toEqual({ outcome: 'crowded' })
    expect(await ports.quota.mark(release, signal)).toBe('crowded')
    expect(writes()).toBe(2)
  })
})
