import { describe, expect, it, vi } from 'vitest'
import type { ContainerFile } from '../../../lib/containers/container-files.ts'
import { ServiceError } from '../../../lib/errors.ts'
import type { ContainerId, FilePath } from '../../../lib/ids.ts'
import { attemptPromotion } from '../../../lib/promotion/attempt-promotion.ts'
import type { PromotionRequest, Traces } from '../../../lib/promotion/promotion.ts'
import { undoOrLeave } from '../../../lib/promotion/undo-promotion.ts'
import { createPorts, NOTHING } from '../../support/ports.ts'

const TAKEN: Traces = { reservation: 'none', hasTaking: true, object: 'none' }

describe('undoOrLeave', () => {
  it('has nothing to do where nothing was begun', async () => {
    const ports = createPorts()
    expect(await undoOrLeave(ports.begin(), { ...TAKEN, hasTaking: false }, ports.request(), ports.deps)).toBe('undone')
    expect(ports.ledger.workspaces.size).toBe(0)
  })

  it('leaves a reservation that was not answered to the resolver, touches nothing, and says so', async () => {
    const ports = createPorts()
    const { attemptId, ...one } = await ports.run(['take'])
    const traces = { ...TAKEN, reservation: 'unknown' } as const
    const outcome = await undoOrLeave({ ...one, attemptId }, traces, ports.request(), ports.deps)
    expect([outcome, ports.state().used]).toEqual(['left_to_resolver', 100])
    expect(ports.logged).toContainEqual(expect.objectContaining({ level: 'error', attempt_id: attemptId }))
  })
})

describe('attemptPromotion', () => {
  it('undoes nothing until the write that removes its marker has ended', async () => {
    const ports = createPorts()
    const { objectKey, ...one } = ports.begin()
    ports.objects.sandbox.set('sandbox', { bytes: Buffer.alloc(100), contentType: 'text/csv' })
    const file = (await ports.objects.findContainerFile('sandbox', new AbortController().signal)) as ContainerFile
    const unmarking = Promise.withResolvers<void>()
    vi.spyOn(ports.deps.quota, 'unmark').mockReturnValueOnce(unmarking.promise)
    vi.spyOn(ports.objects, 'copy').mockRejectedValueOnce(new ServiceError('service_unavailable'))
    const fence = vi.spyOn(ports.documents, 'fence')
    const caller = { keyId: 'key', workspaceId: one.workspaceId, kind: 'management', permissions: [] } as const
    const target = { ...one, containerId: 'sess_1' as ContainerId, path: 'a.csv' as FilePath }
    const request = { ...ports.request(), caller: { ...caller, userId: undefined } } as unknown as PromotionRequest
    const attempting = attemptPromotion(target, file, request, { ...ports.deps, maxFileBytes: 1000 })
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect([fence.mock.calls.length, ports.state().reservations]).toEqual([0, 1])
    unmarking.resolve()
    await expect(attempting).rejects.toMatchObject({ reason: 'service_unavailable' })
    expect(ports.state()).toEqual(NOTHING)
  })
})
