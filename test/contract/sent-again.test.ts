import { beforeEach, describe, expect, it } from 'vitest'
import type { Drift } from '../../lib/maintenance/ledger-maintenance.ts'
import type { WorkspaceDocument } from '../../lib/promotion/document-records.ts'
import type { MarkedRelease, OpenReservation } from '../../lib/promotion/reservations.ts'
import { LOST } from '../support/faults/aws-failures.ts'
import type { Fault } from '../support/faults/fault-proxy.ts'
import {
  FAILED,
  FAILED_AFTER,
  THROTTLED,
  useBrokenWrites,
  type WriteFault,
} from '../support/faults/use-broken-writes.ts'
import { newDocument, newRelease } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()
const on = useBrokenWrites()
const { plan, writes } = on

const listReservations = async () => {
  const all: OpenReservation[] = []
  for await (const each of on.calm.reservations.list(on.workspaceId, signal)) all.push(each)
  return all
}

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
    const { usedBytes, takings, releases } = (await on.calm.ledger.read(on.workspaceId, signal)) ?? {}
    return [usedBytes, takings?.length, releases?.map(({ sizeBytes }) => sizeBytes)]
  }
  const purposes = async () => (await listReservations()).map(({ purpose }) => purpose)
  const given = { quotaBytes: 1000, usedBytes: 0 }
  let drift: Drift
  let release: MarkedRelease
  let document: WorkspaceDocument
  beforeEach(() => {
    release = { ...newRelease(on.one, 'deletion'), markedIn: 1 }
    document = newDocument(on.one)
  })
  const take = () => on.calm.ledger.take(on.one, signal)
  const mark = async () => {
    await take()
    await on.calm.ledger.unmark(on.one, signal)
    await on.calm.ledger.mark(release, signal)
  }
  const open = () => on.calm.reservations.open(on.one, false, signal)
  const record = () => on.calm.documents.record(document, signal)
  const claim = () => on.calm.reservations.claim(on.one, signal)
  const retire = async () => {
    await record()
    await on.calm.documents.retire(release, signal)
  }
  const findDeleted = () => on.calm.documents.findEvenDeleted(on.workspaceId, on.one.documentId, signal)

  const closings: Record<string, () => Closing> = {
    'ledger.unmark': () => ({
      prepare: take,
      close: () => on.ports.ledger.unmark(on.one, signal),
      answers: [undefined],
      left: ledger,
      expected: [100, 0, []],
    }),
    'ledger.release of a taking': () => ({
      prepare: take,
      close: () => on.ports.ledger.release(on.one, signal),
      answers: [given, undefined],
      left: ledger,
      expected: [0, 0, []],
    }),
    'ledger.release of a deletion': () => ({
      prepare: mark,
      close: () => on.ports.ledger.release(release, signal),
      answers: [given, undefined],
      left: ledger,
      expected: [0, 0, []],
    }),
    'ledger.schedule': () => ({
      close: () => on.ports.ledger.schedule(on.one, signal),
      answers: [undefined],
      left: async () => (await on.calm.ledger.read(on.workspaceId, signal))?.checkDueAtMs,
      expected: on.one.leaseExpiresAtMs,
    }),
    'ledgers.correct': () => ({
      prepare: async () => {
        await take()
        const { version = 0 } = (await on.calm.ledger.read(on.workspaceId, signal)) ?? {}
        drift = { usedBytes: 100, expectedBytes: 77, at: { version, lastVersion: version } }
        await on.calm.ledger.unmark(on.one, signal)
      },
      close: () => on.ports.ledger.correct(on.workspaceId, drift, signal),
      answers: [true],
      left: ledger,
      expected: [77, 0, []],
    }),
    'reservations.forestall, before it is opened': () => ({
      close: () => on.ports.reservations.forestall(on.one, false, signal),
      answers: ['forestalled'],
      left: purposes,
      expected: ['forestalled'],
    }),
    'reservations.forestall, of a claim': () => ({
      prepare: claim,
      close: () => on.ports.reservations.forestall(on.one, true, signal),
      answers: ['forestalled'],
      left: purposes,
      expected: [],
    }),
    'reservations.forestall, after it was opened': () => ({
      prepare: open,
      close: () => on.ports.reservations.forestall(on.one, false, signal),
      answers: ['open'],
      left: purposes,
      expected: ['promotion'],
    }),
    'reservations.close': () => ({
      prepare: open,
      close: () => on.ports.reservations.close(release, signal),
      answers: [release.releaseId],
      left: async () => (await on.calm.reservations.find(on.one, signal))?.closedBy,
      expected: release.releaseId,
    }),
    'reservations.remove': () => ({
      prepare: open,
      close: () => on.ports.reservations.remove(on.one, signal),
      answers: [undefined],
      left: purposes,
      expected: [],
    }),
    'reservations.note': () => ({
      close: () => on.ports.reservations.note('late_copy', on.one, signal),
      answers: [undefined],
      left: purposes,
      expected: ['late_copy'],
    }),
    'reservations.removeNote': () => ({
      prepare: () => on.calm.reservations.note('late_copy', on.one, signal),
      close: () => on.ports.reservations.removeNote('late_copy', on.one, signal),
      answers: [undefined],
      left: purposes,
      expected: [],
    }),
    'documents.fence, before a record': () => ({
      close: () => on.ports.documents.fence(on.one, signal),
      answers: ['fenced'],
      left: record,
      expected: 'fenced',
    }),
    'documents.fence, after it': () => ({
      prepare: record,
      close: () => on.ports.documents.fence(on.one, signal),
      answers: ['recorded'],
      left: () => on.calm.documents.find(on.workspaceId, on.one.documentId, signal),
      expected: document,
    }),
    'documents.retire': () => ({
      prepare: record,
      close: () => on.ports.documents.retire(release, signal),
      answers: [{ closedBy: undefined }],
      left: () => on.calm.documents.find(on.workspaceId, on.one.documentId, signal),
      expected: undefined,
    }),
    'documents.close': () => ({
      prepare: retire,
      close: () => on.ports.documents.close(release, signal),
      answers: [release.releaseId],
      left: () => on.calm.documents.retire(release, signal),
      expected: { closedBy: release.releaseId },
    }),
    'documents.finish': () => ({
      prepare: async () => {
        await retire()
        await on.calm.documents.close(release, signal)
      },
      close: () => on.ports.documents.finish(release, signal),
      answers: [undefined],
      left: findDeleted,
      expected: expect.objectContaining({ isFinished: true }),
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
        ] as [string, WriteFault[]][]
      ).map(([what, faults]) => ({ name, what, faults })),
    ),
  )('$name is sent again when $what, and done once', async ({ name, faults }) => {
    const { prepare, close, answers, left, expected } = (closings[name] as () => Closing)()
    await prepare?.()
    on.broken.calls.splice(0)
    plan.push(...faults)
    const answer = await close()
    expect(writes()).toBeGreaterThan(faults.length)
    expect(answers).toContainEqual(answer)
    expect(await left()).toEqual(expected)
  })
})
