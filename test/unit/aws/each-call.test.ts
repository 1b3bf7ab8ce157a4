import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it } from 'vitest'
import { keyIdOf } from '../../../lib/auth/api-token.ts'
import { newLinkToken } from '../../../lib/auth/link-token.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { conditionFailed, refused, storesOn } from '../../support/stores/client-of.ts'
import { counter } from '../../support/stores/keys-and-limits.ts'
import {
  newAttempt,
  newDocument,
  newRefund,
  pendingOf,
  signal,
  storedLedger,
  strayOf,
} from '../../support/stores/ledger-values.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

skipWaits()

const workspaceId = 'ws_1' as WorkspaceId
const attempt = newAttempt({ workspaceId })
const refund = newRefund(attempt)
const { refundId } = refund
const begun = { refundId, refundVersion: 1 }
const document = newDocument(attempt)
const { documentId } = document
const tombstone = { ...document, state: 'gone' } as never
const due = { workspaceId, itemId: documentId, dueAtMs: 0 }
const source = { objectKey: 's', etag: '"e"', sizeBytes: 1, isArchived: false, modifiedAt: new Date(0) } as never
const copy = { source, objectKey: 'd', mimeType: 'text/plain' }
const drift = { counted: { usedBytes: 0, documents: 0 }, expected: { usedBytes: 1, documents: 1 } }
const at = { createdAtMs: 1, version: 1 }
const asked = { state: 'scheduled', requestedAtMs: 1, beginsAtMs: 2, dueAtMs: 2 } as const
const quota = { shown: { quotaBytes: 1 }, to: { quotaBytes: 2 } }
const KEY_ID = keyIdOf(workspaceId)
const key = { tokenHash: 'h', keyId: KEY_ID, workspaceId, kind: 'standard', permissions: [], isEnabled: true } as never
const { token, linkId } = newLinkToken(document)
const link = { ...document, linkId, expiresAt: new Date(1) } as never
const shard = { shard: 0, totalShards: 1, after: undefined }
const work = { kind: 'work', shard: 0, byMs: 0 } as const
const page = { workspaceId, order: 'asc', after: undefined, limit: 1 } as const
const list = { keyPrefix: 'p', afterKey: undefined, firstPage: 10 }
const first = (items: AsyncIterable<unknown>) => items[Symbol.asyncIterator]().next()

type Call = (ports: ReturnType<typeof storesOn>) => Promise<unknown>
/**
 * By the name that logs and traces show; what a call writes opens something, or closes it; what it reads is consistent,
 * or may lag.
 */
const CALLS: [name: string, call: Call, does?: 'opens' | 'closes' | 'may lag'][] = [
  ['keys.find', ({ apiKeys }) => apiKeys.find(KEY_ID, 'h', signal)],
  ['keys.add', ({ keyAdministration }) => keyAdministration.add(key, signal), 'closes'],
  ['keys.get', ({ keyAdministration }) => keyAdministration.get(KEY_ID, signal)],
  ['keys.list', ({ keyAdministration }) => first(keyAdministration.list({}, signal))],
  ['keys.list', ({ keyAdministration }) => first(keyAdministration.list({ workspaceId }, signal))],
  ['keys.change', ({ keyAdministration }) => keyAdministration.change(KEY_ID, { isEnabled: true }, signal), 'closes'],
  ['keys.remove', ({ keyAdministration }) => keyAdministration.remove(KEY_ID, signal), 'closes'],
  ['links.add', ({ links }) => links.add(link, token, signal), 'opens'],
  ['links.find', ({ links }) => links.find(token, signal)],
  ['links.list', ({ links }) => links.list(document, signal)],
  ['links.list', ({ links }) => links.removeAll({ workspaceId }, signal)],
  ['links.remove', ({ links }) => links.remove(link, signal), 'closes'],
  ['rateLimit.take', ({ rateLimiter }) => rateLimiter.take(counter(), signal), 'closes'],
  ['rateLimit.setLimits', ({ rateLimiter }) => rateLimiter.setLimits(workspaceId, { version: 1 }, signal), 'closes'],
  ['ledger.read', ({ ledger }) => ledger.read(workspaceId, signal)],
  ['ledger.read', ({ ledger }) => ledger.usage(workspaceId, signal), 'may lag'],
  ['ledger.hold', ({ ledger }) => ledger.hold(attempt, signal, 6000), 'opens'],
  ['ledger.beginRefund', ({ ledger }) => ledger.beginRefund(refund, signal, 6000), 'opens'],
  ['ledger.capture', ({ ledger }) => ledger.capture(attempt, signal), 'closes'],
  ['ledger.void', ({ ledger }) => ledger.void(attempt, signal), 'closes'],
  ['ledger.cancelRefund', ({ ledger }) => ledger.cancelRefund(refund, signal), 'closes'],
  ['ledger.payRefund', ({ ledger }) => ledger.payRefund(refund, signal), 'closes'],
  ['ledger.list', ({ workspaces }) => first(workspaces.list(signal, { shard: 0, totalShards: 1 }))],
  ['ledger.list', ({ workspaces }) => first(workspaces.readAll(signal))],
  ['ledger.correct', ({ workspaces }) => workspaces.correct(workspaceId, { ...drift, at }, signal), 'closes'],
  ['ledger.makeWorkspace', ({ workspaces }) => workspaces.correct(workspaceId, drift, signal), 'opens'],
  ['ledger.makeWorkspace', ({ workspaces }) => workspaces.create(workspaceId, { quotaBytes: 1 }, signal), 'closes'],
  ['ledger.change', ({ workspaces }) => workspaces.change(workspaceId, quota, signal), 'opens'],
  ['ledger.remove', ({ workspaces }) => workspaces.remove(workspaceId, 1, signal), 'closes'],
  ['erasures.listDue', ({ erasures }) => first(erasures.listDue(1, signal)), 'may lag'],
  ['erasures.change', ({ erasures }) => erasures.change(workspaceId, { shown: undefined, to: asked }, signal), 'opens'],
  ['erasures.clear', ({ erasures }) => erasures.clear(workspaceId, signal), 'closes'],
  ['documents.list', ({ erasures }) => first(erasures.removeItems(workspaceId, signal))],
  ['ListMultipartUploads', ({ erasedObjects }) => erasedObjects.erase({ bucket: 'sandbox', workspaceId }, signal)],
  ['documents.find', ({ documents }) => documents.find(document, signal)],
  ['documents.findAll', ({ documents }) => documents.findAll(workspaceId, [documentId], signal)],
  ['documents.begin', ({ documents }) => documents.begin(pendingOf(attempt), undefined, signal), 'opens'],
  ['documents.begin', ({ documents }) => documents.begin(pendingOf(attempt), tombstone, signal), 'opens'],
  ['documents.record', ({ documents }) => documents.record(document, signal), 'closes'],
  ['documents.fence', ({ documents }) => documents.fence(attempt, signal), 'closes'],
  ['documents.delete', ({ documents }) => documents.delete(document, { dueAtMs: 1 }, signal), 'closes'],
  ['documents.nameRefund', ({ documents }) => documents.nameRefund(document, begun, signal), 'closes'],
  ['documents.bury', ({ documents }) => documents.bury(document, refundId, signal), 'closes'],
  ['documents.keepTombstone', ({ documents }) => documents.keepTombstone(tombstone, signal), 'closes'],
  ['documents.putStray', ({ documents }) => documents.putStray(strayOf(attempt), signal), 'closes'],
  ['documents.removeStray', ({ documents }) => documents.removeStray(strayOf(attempt), signal), 'closes'],
  ['documents.setExpiry', ({ documents }) => documents.setExpiry(document, undefined, signal), 'opens'],
  ['documents.listDue', ({ dueWork }) => first(dueWork.listDue(work, signal)), 'may lag'],
  ['documents.findDue', ({ dueWork }) => dueWork.findDue(due, signal)],
  ['documents.list', ({ documents }) => first(documents.list(workspaceId, signal))],
  ['documents.findStray', ({ documents }) => documents.findStray(attempt, signal)],
  ['documents.listWorkspaces', ({ documents }) => first(documents.listWorkspaces(shard, signal)), 'may lag'],
  ['documents.hasWorkspace', ({ documents }) => documents.hasWorkspace(workspaceId, signal)],
  ['documents.list', ({ listing }) => listing.page(page, signal), 'may lag'],
  ['documents.findAll', ({ listing }) => listing.findAll(workspaceId, [documentId], signal)],
  ['documents.find', ({ listing }) => listing.positionOf(workspaceId, documentId, signal)],
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

const READS = CALLS.filter(([, , does]) => does === undefined || does === 'may lag')
const READS_OF_TABLES = READS.filter(([name]) => /^[a-z]/.test(name))

describe('a call that fails is named in its error', () => {
  it.each(CALLS)('%s', async (name, call) => {
    await expect(call(storesOn())).rejects.toMatchObject({ call: name })
  })

  const hold: Call = ({ ledger }) => ledger.hold(attempt, signal, 0)
  const discard: Call = ({ objects }) => objects.discard({ objectKey: 'd' }, signal)
  it.each<[string, Parameters<typeof storesOn>[0], Call]>([
    // The ledger's update finds no item.
    ['ledger.makeWorkspace', { UpdateItemCommand: () => conditionFailed() }, hold],
    ['DeleteObject', { ListMultipartUploadsCommand: () => ({}) }, discard],
  ])('%s, which comes second', async (name, answers, call) => {
    await expect(call(storesOn(answers))).rejects.toMatchObject({ call: name })
  })
})

/** A write is answered with one of these. */
const FAILURES = {
  'its answer is lost': () => Object.assign(new Error('lost'), { name: 'TimeoutError' }),
  'it is answered with 500': () => refused(500, 'InternalServerError'),
  'it is throttled': () => refused(400, 'ThrottlingException'),
}

/** The stores on a client whose first two writes fail; reads find a workspace. */
function failingTwice(failure: () => Error) {
  let writes = 0
  const write = () => (++writes <= 2 ? failure() : {})
  const workspace = { ...storedLedger(), ...marshall({ key_id: KEY_ID, token_hash: 'h' }) }
  // Nobody remembers this document.
  const document = { item_state: { S: 'gone' }, ttl_at: { N: '0' } }
  const ports = storesOn({
    GetItemCommand: () => ({ Item: workspace }),
    PutItemCommand: write,
    DeleteItemCommand: write,
    UpdateItemCommand: () => {
      const answer = write()
      return answer instanceof Error ? answer : { Attributes: { ...workspace, ...document } }
    },
  })
  return { ports, writes: () => writes }
}

const each = (does: string, failures: (keyof typeof FAILURES)[]) =>
  CALLS.filter(([, , kind]) => kind === does).flatMap(([name, call]) => failures.map((what) => ({ name, what, call })))

describe('what opens is sent once, what closes may be repeated', () => {
  const inDoubt = each('opens', ['its answer is lost', 'it is answered with 500'])
  it.each(inDoubt)('$name is not sent again when $what', async ({ call, what }) => {
    const { ports, writes } = failingTwice(FAILURES[what])
    const isUnanswered = what === 'its answer is lost'
    await expect(call(ports)).rejects.toMatchObject({ reason: 'service_unavailable', isUnanswered })
    expect(writes()).toBe(1)
  })

  it.each([
    ...each('opens', ['it is throttled']),
    ...each('closes', ['its answer is lost', 'it is answered with 500', 'it is throttled']),
  ])('$name is sent again when $what', async ({ call, what }) => {
    const { ports, writes } = failingTwice(FAILURES[what])
    await call(ports)
    expect(writes()).toBe(3)
  })

  it.each(READS)('%s writes nothing', async (_, call) => {
    const { ports, writes } = failingTwice(FAILURES['it is throttled'])
    await call(ports).catch(() => {})
    expect(writes()).toBe(0)
  })

  it('a hold and a refund are tried once where nobody is patient', async () => {
    const { ports, writes } = failingTwice(FAILURES['it is throttled'])
    expect(await ports.ledger.hold(attempt, signal, 0)).toEqual({ outcome: 'crowded' })
    expect(await ports.ledger.beginRefund(refund, signal, 0)).toBe('crowded')
    expect(writes()).toBe(2)
  })
})

it.each(READS_OF_TABLES)('%s is consistent, unless it may lag', async (_, call, does) => {
  const ports = storesOn()
  await call(ports).catch(() => {})
  const isConsistent = ports.sent.map(({ input: { ConsistentRead, RequestItems } }) => {
    const [ofBatch] = Object.values<{ ConsistentRead?: boolean }>(RequestItems ?? {})
    return (ofBatch?.ConsistentRead ?? ConsistentRead) === true
  })
  expect(isConsistent).toEqual([does === undefined])
})
