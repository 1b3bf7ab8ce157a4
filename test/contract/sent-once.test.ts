import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDocumentRecords } from '../../lib/aws/document-records.ts'
import { createLedgerMaintenance } from '../../lib/aws/ledger-maintenance.ts'
import { createQuotaLedger } from '../../lib/aws/quota-ledger.ts'
import { createReservations } from '../../lib/aws/reservations.ts'
import { createWorkspaceAdministration } from '../../lib/aws/workspace-administration.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import type { Drift } from '../../lib/maintenance/ledger-maintenance.ts'
import type { WorkspaceDocument } from '../../lib/promotion/document-records.ts'
import type { OpenReservation, Release, Reservation } from '../../lib/promotion/reservations.ts'
import { type BreakableDynamoDb, startBreakableDynamoDb } from '../support/faults/breakable-dynamodb.ts'
import type { AwsCall, Fault } from '../support/faults/fault-proxy.ts'
import { createTestStores, type TestStores } from '../support/faults/test-stores.ts'
import { newDocument, newRelease, newReservation, newWorkspaceId } from '../support/ledger-values.ts'
import { LEDGER_SETTINGS } from './quota-ledger.contract.ts'

const { signal } = new AbortController()
const dynamoDbError = (status: number, type: string): Fault => ({
  kind: 'answer',
  status,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'm' }),
})
const THROTTLED = dynamoDbError(400, 'ProvisionedThroughputExceededException')
const FAILED = dynamoDbError(500, 'InternalServerError')
const LOST: Fault = { kind: 'lose_answer' }
/** Not a fault of the proxy: the store does it, and what it answers is replaced by a 500. */
const FAILED_AFTER = 'failed after'

/** The adapters on the wire, whose next writes go wrong: what opens is sent once, what closes may be repeated. */
let stores: TestStores
let broken: BreakableDynamoDb
const plan: (Fault | typeof FAILED_AFTER | undefined)[] = []
let answersFailed = false
/** Whose calls go wrong. */
let ports: ReturnType<typeof createPorts>
/** For all else. */
let calm: ReturnType<typeof createPorts>

beforeAll(async () => {
  stores = await createTestStores()
  broken = await startBreakableDynamoDb(stores.stores.dynamoDb)
  broken.fault = (call) => {
    if (isRead(call)) return undefined
    const next = plan.shift()
    answersFailed = next === FAILED_AFTER
    return next === FAILED_AFTER ? undefined : next
  }
  broken.client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      if (answersFailed) (result.response as { statusCode: number }).statusCode = 500
      answersFailed = false
      return result
    },
    { step: 'deserialize', priority: 'low' },
  )
  ports = createPorts(broken.client)
  calm = createPorts(stores.dynamoDb)
})
afterAll(() => broken.stop())

const isRead = ({ headers }: AwsCall) => /\.(GetItem|Query|Scan)$/.test(String(headers['x-amz-target']))
const writes = () => broken.calls.filter((call) => !isRead(call)).length

function createPorts(client: DynamoDBClient) {
  const { config } = stores
  const settings = { ...LEDGER_SETTINGS, client, tableName: config.workspacesTable }
  return {
    ledger: createQuotaLedger(settings),
    ledgers: createLedgerMaintenance(settings),
    administration: createWorkspaceAdministration(settings),
    reservations: createReservations({ client, tableName: config.reservationsTable }),
    documents: createDocumentRecords({ client, tableName: config.documentsTable, now: LEDGER_SETTINGS.now }),
  }
}

let workspaceId: WorkspaceId
/** Nobody has made it. */
let unknownId: WorkspaceId
let one: Reservation
beforeEach(async () => {
  workspaceId = newWorkspaceId()
  unknownId = newWorkspaceId()
  one = newReservation({ workspaceId })
  await calm.administration.create(workspaceId, 1000, signal)
  plan.splice(0)
  broken.calls.splice(0)
})
const listReservations = async () => {
  const all: OpenReservation[] = []
  for await (const each of calm.reservations.list(workspaceId, signal)) all.push(each)
  return all
}

describe('a write that opens something', () => {
  interface Opening {
    open(): Promise<unknown>
    /** Whether it has taken effect. */
    isOpen(): Promise<boolean>
    /** It looks what became of it, and so succeeds when it has taken effect. */
    looks?: boolean
  }
  const openings: Record<string, () => Opening> = {
    'ledger.take': () => ({
      open: () => ports.ledger.take(one, signal),
      isOpen: async () => (await calm.ledgers.read(workspaceId, signal))?.takings.length === 1,
    }),
    'ledger.mark': () => ({
      open: () => ports.ledger.mark(newRelease(one, 'deletion'), signal),
      isOpen: async () => (await calm.ledgers.read(workspaceId, signal))?.releases.length === 1,
    }),
    'reservations.open': () => ({
      open: () => ports.reservations.open(one, signal),
      isOpen: async () => (await calm.reservations.find(one, signal))?.purpose === 'promotion',
    }),
    'reservations.forestall': () => ({
      open: () => ports.reservations.forestall(one, signal),
      isOpen: async () => (await calm.reservations.find(one, signal))?.purpose === 'fence',
    }),
    'documents.record': () => ({
      open: () => ports.documents.record(newDocument(one), signal),
      isOpen: async () => (await calm.documents.find(workspaceId, one.documentId, signal)) !== undefined,
    }),
    'administration.setQuota': () => ({
      open: () => ports.administration.setQuota(workspaceId, 5000, signal),
      isOpen: async () => (await calm.ledger.usage(workspaceId, signal))?.quotaBytes === 5000,
      looks: true,
    }),
    'ledgers.correct, where there is no ledger': () => ({
      open: () => ports.ledgers.correct(unknownId, { usedBytes: 0, expectedBytes: 77 }, signal),
      isOpen: async () => (await calm.ledger.usage(unknownId, signal))?.usedBytes === 77,
    }),
  }

  describe.each(Object.keys(openings))('%s', (name) => {
    const opening = () => (openings[name] as () => Opening)()

    it.each<[string, (typeof plan)[number], { isUnanswered: boolean; isOpen: boolean }]>([
      ['its answer is lost', LOST, { isUnanswered: true, isOpen: true }],
      ['its connection breaks', { kind: 'refuse' }, { isUnanswered: true, isOpen: false }],
      ['nothing answers', { kind: 'hang' }, { isUnanswered: true, isOpen: false }],
      ['it is answered with 500', FAILED, { isUnanswered: false, isOpen: false }],
      ['it is answered with 500, having taken effect', FAILED_AFTER, { isUnanswered: false, isOpen: true }],
    ])('is not sent again when %s', async (_, fault, { isUnanswered, isOpen }) => {
      const { open, isOpen: isNowOpen, looks } = opening()
      plan.push(fault)
      if (looks && isOpen) await open()
      else await expect(open()).rejects.toMatchObject({ reason: 'service_unavailable', isUnanswered })
      expect(writes()).toBe(1)
      expect(await isNowOpen()).toBe(isOpen)
    })

    it('takes effect late, once, when it was held up and given up', async () => {
      const { open, isOpen } = opening()
      plan.push({ kind: 'late' })
      await expect(open()).rejects.toMatchObject({ isUnanswered: true })
      expect(await isOpen()).toBe(false)
      await broken.deliverLate()
      expect(await isOpen()).toBe(true)
      expect(writes()).toBe(1)
    })

    it('is tried again when it was throttled, which says that nothing happened', async () => {
      const { open, isOpen } = opening()
      plan.push(THROTTLED, THROTTLED)
      if (name === 'ledger.take' || name === 'ledger.mark') {
        // By the rules of the caller: others wait for the same item.
        for (let times = 1; times <= 2; times++) {
          const refused = await open()
          expect(name === 'ledger.mark' ? { outcome: refused } : refused).toMatchObject({ outcome: 'crowded' })
          expect(writes()).toBe(times)
        }
      }
      await open()
      expect(writes()).toBe(3)
      expect(await isOpen()).toBe(true)
    })
  })
})

describe('a write that closes something', () => {
  interface Closing {
    /** Done before, without faults. */
    prepare?(): Promise<unknown>
    close(): Promise<unknown>
    /** What it answers; a repetition that finds its work done may know less. */
    answers: unknown[]
    /** What is there then. */
    left(): Promise<unknown>
    expected: unknown
  }
  const ledger = async () => {
    const { usedBytes, takings, releases } = (await calm.ledgers.read(workspaceId, signal)) ?? {}
    return [usedBytes, takings?.length, releases?.map(({ sizeBytes }) => sizeBytes)]
  }
  const purposes = async () => (await listReservations()).map(({ purpose }) => purpose)
  const given = { usage: { quotaBytes: 1000, usedBytes: 0 } }
  let drift: Drift
  let release: Release
  let document: WorkspaceDocument
  beforeEach(() => {
    release = newRelease(one, 'deletion')
    document = newDocument(one)
  })
  const take = () => calm.ledger.take(one, signal)
  const mark = async () => {
    await take()
    await calm.ledger.unmark(one, signal)
    await calm.ledger.mark(release, signal)
  }
  const open = () => calm.reservations.open(one, signal)
  const record = () => calm.documents.record(document, signal)
  const retire = () => calm.documents.retire(release, signal)
  const recordNext = () =>
    calm.documents.record(newDocument(newReservation({ workspaceId, documentId: one.documentId })), signal)

  const closings: Record<string, () => Closing> = {
    'ledger.unmark': () => ({
      prepare: take,
      close: () => ports.ledger.unmark(one, signal),
      answers: [undefined],
      left: ledger,
      expected: [100, 0, []],
    }),
    'ledger.release of a taking': () => ({
      prepare: take,
      close: () => ports.ledger.release(one, signal),
      answers: [given, undefined],
      left: ledger,
      expected: [0, 0, []],
    }),
    'ledger.release of a deletion': () => ({
      prepare: mark,
      close: async () => {
        const { usage } = (await ports.ledger.release(release, signal, { keepsMarker: true })) ?? {}
        return { usage }
      },
      answers: [given],
      left: ledger,
      expected: [0, 0, [0]],
    }),
    'ledgers.correct': () => ({
      prepare: async () => {
        await take()
        const { version = 0 } = (await calm.ledgers.read(workspaceId, signal)) ?? {}
        drift = { usedBytes: 100, expectedBytes: 77, at: { version, lastVersion: version } }
        await calm.ledger.unmark(one, signal)
      },
      close: () => ports.ledgers.correct(workspaceId, drift, signal),
      answers: [true],
      left: ledger,
      expected: [77, 0, []],
    }),
    'reservations.close': () => ({
      prepare: open,
      close: async () => (await ports.reservations.close(release, signal))?.closedBy,
      answers: [release.releaseId],
      left: async () => (await calm.reservations.find(one, signal))?.closedBy,
      expected: release.releaseId,
    }),
    'reservations.remove': () => ({
      prepare: open,
      close: () => ports.reservations.remove(one, signal),
      answers: [undefined],
      left: purposes,
      expected: [],
    }),
    'reservations.watch': () => ({
      close: () => ports.reservations.watch(one, signal),
      answers: [undefined],
      left: purposes,
      expected: ['late_copy'],
    }),
    'reservations.removeWatch': () => ({
      prepare: () => calm.reservations.watch(one, signal),
      close: () => ports.reservations.removeWatch(one, signal),
      answers: [undefined],
      left: purposes,
      expected: [],
    }),
    'documents.fence, before a record': () => ({
      close: () => ports.documents.fence(one, signal),
      answers: ['fenced'],
      left: record,
      expected: 'fenced',
    }),
    'documents.fence, after it': () => ({
      prepare: record,
      close: () => ports.documents.fence(one, signal),
      answers: ['recorded'],
      left: () => calm.documents.find(workspaceId, one.documentId, signal),
      expected: document,
    }),
    'documents.retire': () => ({
      prepare: record,
      close: async () => (await ports.documents.retire(release, signal))?.objectKey,
      answers: [one.objectKey],
      left: () => calm.documents.find(workspaceId, one.documentId, signal),
      expected: undefined,
    }),
    'documents.finish': () => ({
      prepare: async () => {
        await record()
        await retire()
      },
      close: () => ports.documents.finish(release, signal),
      answers: [undefined],
      left: recordNext,
      expected: 'recorded',
    }),
  }

  it.each(
    Object.keys(closings).flatMap((name) =>
      (
        [
          ['its answer is lost', [LOST]],
          ['its connection breaks', [{ kind: 'refuse' }]],
          ['nothing answers', [{ kind: 'hang' }]],
          ['it is answered with 500', [FAILED]],
          ['it is answered with 500, having taken effect', [FAILED_AFTER]],
          ['it is lost twice', [LOST, FAILED_AFTER]],
          ['it is throttled again and again', Array<Fault>(6).fill(THROTTLED)],
        ] as [string, typeof plan][]
      ).map(([what, faults]) => ({ name, what, faults })),
    ),
  )('$name is sent again when $what, and done once', async ({ name, faults }) => {
    const { prepare, close, answers, left, expected } = (closings[name] as () => Closing)()
    await prepare?.()
    broken.calls.splice(0)
    plan.push(...faults)
    const answer = await close()
    expect(writes()).toBeGreaterThan(faults.length)
    expect(answers).toContainEqual(answer)
    expect(await left()).toEqual(expected)
  })
})
