import { describe, expect, it, vi } from 'vitest'
import type { Progress } from '../../../lib/promotion/promotion.ts'
import { undoOrLeave } from '../../../lib/promotion/undo-promotion.ts'
import { createPorts, NOTHING } from '../../support/ports.ts'

const TAKEN: Progress = { isTaken: true, reservation: 'none', copy: 'none', unmarked: Promise.resolve(false) }

describe('undoOrLeave', () => {
  it('has nothing to do where nothing was begun', async () => {
    const ports = createPorts()
    const progress: Progress = { ...TAKEN, isTaken: false }
    expect(await undoOrLeave(ports.begin(), progress, ports.request(), ports.deps)).toBe('undone')
    expect(ports.ledger.workspaces.size).toBe(0)
  })

  it('leaves a reservation that was not answered to the resolver, touches nothing, and says so', async () => {
    const ports = createPorts()
    const { attemptId, ...one } = await ports.run(['take'])
    const progress: Progress = { ...TAKEN, reservation: 'unknown', copy: 'answered' }
    const outcome = await undoOrLeave({ ...one, attemptId }, progress, ports.request(), ports.deps)
    expect([outcome, ports.state().used]).toEqual(['left_to_resolver', 100])
    expect(ports.logged).toContainEqual(expect.objectContaining({ level: 'error', attempt_id: attemptId }))
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
