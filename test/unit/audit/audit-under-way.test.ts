import { describe, expect, it } from 'vitest'
import { findingId } from '../../../lib/audit/findings.ts'
import type { Attempt, MarkedRelease, Release } from '../../../lib/ledger/ports/reservations.ts'
import { interruptedAt } from '../../support/interrupted.ts'
import {
  ALL_STEPS,
  createPorts,
  LEASE_MS,
  ONE_DOCUMENT,
  type Ports,
  type Step,
  WORKSPACE,
} from '../../support/ports.ts'
import { newRelease } from '../../support/stores/ledger-values.ts'
import { runAudit } from '../../support/unit/run-audit.ts'

const { signal } = new AbortController()
/** Until then a leftover is the resolver's. */
const OVERDUE_MS = 600_000

/** The calls of an undo or a deletion, in their order. */
function stepsOf(ports: Ports, one: Attempt, purpose: Release['purpose']): (() => Promise<unknown>)[] {
  const { ledger, reservations, documents, objects } = ports
  const release = newRelease(one, purpose) as MarkedRelease
  const mark = async () => Object.assign(release, await ledger.mark(release, signal))
  const giveBack = () => ledger.release(release, signal)
  if (purpose === 'undo') {
    return [mark, () => reservations.handOver(release, signal), giveBack, () => reservations.remove(one, signal)]
  }
  return [
    () => reservations.note('deletion', one, signal),
    () => ledger.schedule(one, signal),
    () => documents.delete(one, signal),
    () => objects.discard(one.objectKey, signal),
    mark,
    () => documents.handOver(release, signal),
    giveBack,
    () => documents.expire(release, signal),
    () => reservations.removeNote('deletion', one, signal),
  ]
}

describe('audit, of what is under way', () => {
  const ORDERS: (readonly Step[])[] = [
    ALL_STEPS,
    ['take', 'reserve', 'copy', 'record'],
    ['take', 'copy', 'fence'],
    ['take', 'fence'],
    ['late_copy', 'copy'],
  ]
  it.each(ORDERS.flatMap((order) => order.map((_, last) => ({ steps: order.slice(0, last + 1) }))))(
    'takes a promotion for no finding after $steps',
    async ({ steps }) => {
      const ports = createPorts()
      await ports.addDocument()
      await ports.run(steps)
      const before = ports.state()
      ports.pass(LEASE_MS + OVERDUE_MS - 1)
      expect((await runAudit(ports, true)).findings).toEqual([])
      expect(ports.state()).toEqual(before)
    },
  )

  const CASES = (['deletion', 'undo'] as const).flatMap((purpose) =>
    Array.from({ length: purpose === 'undo' ? 5 : 10 }, (_, done) => ({ purpose, done })),
  )
  it.each(CASES)(
    'fixed: takes the $purpose of an attempt for no finding after $done calls, nor the rest between any two of its reads',
    async ({ purpose, done }) => {
      for (let at = 0, isOver = false; !isOver; at++) {
        const ports = createPorts()
        await ports.addDocument()
        const one = await ports.run(purpose === 'undo' ? ['take', 'reserve', 'unmark'] : [...ALL_STEPS, 'settle'])
        const steps = stepsOf(ports, one, purpose)
        for (const step of steps.slice(0, done)) await step()
        const { deps, calls } = interruptedAt(at, ports.deps, async () => {
          for (const step of steps.slice(done)) await step()
        })
        const { findings, notAddedUp } = await runAudit({ deps }, true)
        expect([at, findings, notAddedUp]).toEqual([at, [], []])
        isOver = calls() <= at
        if (!isOver) expect([at, ports.state()]).toEqual([at, ONE_DOCUMENT])
      }
    },
  )

  it.each([
    ['noted', true, false],
    ['not noted', false, false],
    ['noted and marked', true, true],
  ])('finds a deletion that nobody is due to finish, and finishes it: %s', async (_, isNoted, isMarked) => {
    const ports = createPorts()
    await ports.addDocument()
    const one = ports.begin()
    const { documentId, attemptId } = await ports.addDocument(one)
    if (isNoted) await ports.run(['deletion'], one)
    await ports.documents.delete(one, signal)
    if (isMarked) {
      await ports.objects.discard(one.objectKey, signal)
      await ports.ledger.mark(newRelease(one, 'deletion', { leaseExpiresAtMs: one.leaseExpiresAtMs }), signal)
    }
    ports.pass(LEASE_MS + OVERDUE_MS - 1)
    const expected = { kind: 'expired_reservation', purpose: 'deletion', attemptId, sizeBytes: 100 }
    expect((await runAudit(ports)).findings).toMatchObject(isNoted ? [] : [expected])
    ports.pass(1)
    // By its marker and by its tombstone, which are one finding to whoever counts them.
    const { findings } = await runAudit(ports)
    expect([findings.length, new Set(findings.map(findingId)).size]).toEqual([isMarked ? 2 : 1, 1])
    expect((await runAudit(ports, true)).findings).toMatchObject([{ ...expected, isRepaired: true }])
    expect(ports.state()).toEqual(ONE_DOCUMENT)
    expect(await ports.documents.findEvenDeleted(WORKSPACE, documentId, signal)).toMatchObject({ isReleased: true })
  })
})
