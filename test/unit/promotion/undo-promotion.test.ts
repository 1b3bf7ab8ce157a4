import { describe, expect, it, vi } from 'vitest'
import type { Progress } from '../../../lib/promotion/promotion.ts'
import { undoOrLeave } from '../../../lib/promotion/undo-promotion.ts'
import { createPorts, LATE_COPY_MS, NOTHING, type Ports, type Step } from '../../support/ports.ts'

const TAKEN: Progress = { isTaken: true, reservation: 'none', copy: 'none', unmarked: Promise.resolve(false) }

/** Undoes an attempt that took these steps and knows so much of them. */
async function undoAfter(ports: Ports, steps: readonly Step[], knows: Partial<Progress>) {
  const one = await ports.run(steps)
  return { one, outcome: await undoOrLeave(one, { ...TAKEN, ...knows }, ports.request(), ports.deps) }
}

describe('undoOrLeave', () => {
  it('has nothing to do where nothing was begun', async () => {
    const ports = createPorts()
    const { outcome } = await undoAfter(ports, [], { isTaken: false })
    expect([outcome, ports.ledger.workspaces.size]).toEqual(['undone', 0])
  })

  it.each<[string, Step[]]>([
    ['arrived', ['take', 'reserve']],
    ['may yet arrive', ['take', 'copy']],
  ])('leaves a reservation that was not answered and %s to the resolver, and touches nothing', async (_, steps) => {
    const ports = createPorts()
    const { one, outcome } = await undoAfter(ports, steps, { reservation: 'unknown', copy: 'answered' })
    expect([outcome, ports.state().used]).toEqual(['left_to_resolver', 100])
    expect(ports.logged).toContainEqual(expect.objectContaining({ level: 'error', attempt_id: one.attemptId }))
    await ports.resolveAll()
    expect(ports.state()).toEqual(NOTHING)
  })

  it.each<[string, readonly Step[], Progress['reservation']]>([
    ['it had reserved', ['take', 'reserve', 'unmark'], 'reserved'],
    ['its reservation was refused', ['take'], 'none'],
  ])('has the object of a copy removed that arrives late, when %s', async (_, steps, reservation) => {
    const ports = createPorts()
    const { one, outcome } = await undoAfter(ports, steps, { reservation, copy: 'unanswered' })
    expect(outcome).toBe('undone')
    expect(ports.lateCopies()).toEqual([one.attemptId])
    ports.pass(LATE_COPY_MS - 1)
    ports.putObject(one)
    await ports.resolveAll()
    expect(ports.state()).toEqual(NOTHING)
  })

  it('does nothing until the write that removes its marker has ended', async () => {
    const ports = createPorts()
    const one = await ports.run(['take', 'reserve', 'copy'])
    const unmarking = Promise.withResolvers<boolean>()
    const fence = vi.spyOn(ports.documents, 'fence')
    const progress: Progress = { ...TAKEN, reservation: 'reserved', copy: 'answered', unmarked: unmarking.promise }
    const undoing = undoOrLeave(one, progress, ports.request(), ports.deps)
    await new Promise((resolve) => setImmediate(resolve))
    expect(fence).not.toHaveBeenCalled()
    unmarking.resolve(true)
    expect(await undoing).toBe('undone')
    expect(ports.state()).toEqual(NOTHING)
  })
})
