import { describe, expect, it } from 'vitest'
import { findingId } from '../../../lib/audit/findings.ts'
import { ALL_STEPS, createPorts, LEASE_MS, ONE_DOCUMENT, type Step, WORKSPACE } from '../../support/ports.ts'
import { newRelease } from '../../support/stores/ledger-values.ts'
import { runAudit } from '../../support/unit/run-audit.ts'

const { signal } = new AbortController()
/** Until then a leftover is the resolver's. */
const OVERDUE_MS = 600_000

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
    const expected = { kind: 'old_leftover', leftover: 'deletion', attemptId, sizeBytes: 100 }
    expect((await runAudit(ports)).findings).toMatchObject(isNoted ? [] : [expected])
    ports.pass(1)
    // By its marker and by its tombstone, which are one finding to whoever counts them.
    const { findings } = await runAudit(ports)
    expect([findings.length, new Set(findings.map(findingId)).size]).toEqual([isMarked ? 2 : 1, 1])
    expect((await runAudit(ports, true)).findings).toMatchObject([{ ...expected, isRepaired: true }])
    expect(ports.state()).toEqual(ONE_DOCUMENT)
    expect(await ports.documents.findEvenDeleted(WORKSPACE, documentId, signal)).toMatchObject({ isGivenBack: true })
  })
})
