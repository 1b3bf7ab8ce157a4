import { describe, expect, it, vi } from 'vitest'
import type { Attempt } from '../../../lib/ledger/ports/documents.ts'
import { WORKSPACES_TABLE } from '../../support/dynamodb/memory-tables.ts'
import {
  ALL_STEPS,
  createPorts,
  LATE_COPY_MS,
  LEASE_MS,
  ONE_DOCUMENT,
  type Ports,
  type Step,
  WORKSPACE,
  withDocument,
} from '../../support/ports.ts'
import { signal, strayOf } from '../../support/stores/ledger-values.ts'
import { resolve } from '../../support/unit/resolver-runs.ts'
import { expectMended, runAudit } from '../../support/unit/run-audit.ts'

/** Until then a leftover is the resolver's. */
const OVERDUE_MS = 600_000
const RECORDED = ALL_STEPS.slice(0, 4)

/** A document, and what another attempt leaves beside it. */
async function withLeftover(steps: readonly Step[]) {
  const { ports } = await withDocument()
  return { ports, one: await ports.run(steps) }
}

it.each<[string, (ports: Ports, one: Attempt) => Promise<unknown>]>([
  ['ended in time', (ports) => resolve('work', ports)],
  ['made due later', ({ documents, clock }, one) => documents.putStray(strayOf(one, clock.nowMs + OVERDUE_MS), signal)],
])('the audit takes nothing for a finding that was %s, however long ago it was listed', async (_, meanwhile) => {
  const { ports, one } = await withLeftover(['stray', 'copy', 'hold'])
  const { documents } = ports.deps
  const list: typeof documents.list = async function* (...args) {
    const page = await Array.fromAsync(documents.list(...args))
    ports.pass(LATE_COPY_MS)
    await meanwhile(ports, one)
    ports.pass(OVERDUE_MS)
    yield* page
  }
  expect((await runAudit(ports, false, { documents: { ...documents, list } })).findings).toEqual([])
})

describe('the audit, of what nobody has gone on with', () => {
  it.each<[readonly Step[], string, object, number]>([
    [['hold'], 'hold', { sizeBytes: 100 }, LEASE_MS],
    [['begin'], 'promotion', { sizeBytes: undefined }, LEASE_MS],
    // The refund is explained by its item.
    [['begin', 'copy', 'hold'], 'promotion', {}, LEASE_MS],
    [['stray', 'copy', 'hold'], 'undo', { sizeBytes: undefined }, LATE_COPY_MS],
    [[...RECORDED, 'delete'], 'deletion', { sizeBytes: 100 }, LEASE_MS],
    [[...ALL_STEPS, 'delete', 'beginRefund'], 'deletion', { sizeBytes: 100 }, LEASE_MS],
  ])('finds it after %j, as %s, and goes on with it', async (steps, leftover, facts, dueInMs) => {
    const { ports, one } = await withLeftover(steps)
    ports.pass(dueInMs + OVERDUE_MS - 1)
    expect((await runAudit(ports)).findings).toEqual([])
    ports.pass(1)
    const { attemptId } = one
    await expectMended(ports, { kind: 'old_leftover', leftover, attemptId, overdueMs: OVERDUE_MS, ...facts })
    await ports.resolveAll()
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it.each<[string, readonly Step[]]>([
    ['of a hold whose document is ready', RECORDED],
    ['of a refund that no document names', [...ALL_STEPS, 'beginRefund']],
  ])('finds nothing wrong %s: a repair cleans it away', async (_, steps) => {
    const { ports } = await withLeftover(steps)
    const before = { ...ONE_DOCUMENT, used: 200, documents: 2, objects: 2, entries: 1 }
    ports.pass(LEASE_MS + OVERDUE_MS - 1)
    expect((await runAudit(ports, true)).findings).toEqual([])
    expect(ports.state()).toEqual(before)
    ports.pass(1)
    expect(await runAudit(ports)).toMatchObject({ findings: [], notAddedUp: [] })
    expect(ports.state()).toEqual(before)
    expect((await runAudit(ports, true)).findings).toEqual([])
    expect(ports.state()).toEqual({ ...before, entries: 0 })
  })

  it.each<[readonly Step[], string]>([
    [['hold'], 'void'],
    [RECORDED, 'capture'],
    [['begin', 'hold'], 'void'],
    [[...RECORDED, 'delete'], 'beginRefund'],
  ])('does not call repaired what could not be done after %j, and goes on', async (steps, method) => {
    const { ports } = await withLeftover(steps)
    ports.pass(LEASE_MS + OVERDUE_MS)
    const error = new Error('down')
    vi.spyOn(ports.ledger, method as 'payRefund').mockRejectedValue(error)
    const { findings, report } = await runAudit(ports, true)
    const found = { kind: 'old_leftover', isRepaired: false }
    expect(findings).toMatchObject(steps === RECORDED ? [] : [found])
    expect(report).toMatchObject({ workspaces: 1, repaired: 0, notAddedUp: 0 })
    const message = 'leftover not repaired, left to the resolver'
    expect(ports.logged).toContainEqual({ level: 'warn', message, workspace_id: WORKSPACE, error })
  })

  it('leaves an expired document to the resolver for an hour, also while that deletes it', async () => {
    const ports = createPorts()
    const document = await ports.addDocument(undefined, { expiresAt: new Date(ports.clock.nowMs) })
    ports.pass(3600_000 - 1)
    expect((await runAudit(ports)).findings).toEqual([])
    const { nowMs } = ports.clock
    await ports.documents.delete(document, { ifExpiredByMs: nowMs, dueAtMs: nowMs + LEASE_MS }, signal)
    expect((await runAudit(ports)).findings).toEqual([])
    ports.pass(1)
    expect((await runAudit(ports)).findings).toMatchObject([{ kind: 'old_leftover', leftover: 'deletion' }])
  })

  it('cleans all that is left in a ledger together, once', async () => {
    const { ports } = await withLeftover(['hold'])
    await ports.run(['hold'])
    ports.pass(LEASE_MS + OVERDUE_MS)
    const voided = vi.spyOn(ports.ledger, 'void')
    expect((await runAudit(ports, true)).findings).toHaveLength(2)
    expect(voided).toHaveBeenCalledTimes(2)
  })

  it('finishes a deletion that has no ledger only once it has made one', async () => {
    const { ports } = await withLeftover([...ALL_STEPS, 'delete'])
    await ports.stored.removeAll(WORKSPACES_TABLE)
    ports.pass(LEASE_MS + OVERDUE_MS)
    const [leftover, drift] = [{ kind: 'old_leftover' }, { kind: 'drift', isRepaired: true }]
    expect((await runAudit(ports, true)).findings).toMatchObject([{ ...leftover, isRepaired: false }, drift])
    expect((await runAudit(ports, true)).findings).toMatchObject([{ ...leftover, isRepaired: true }])
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })
})
