import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../lib/errors.ts'
import { releaseBytes } from '../../../lib/ledger/release-bytes.ts'
import { createPorts, LEASE_MS, type Ports, WORKSPACE } from '../../support/ports.ts'
import { replaceWaits } from '../../support/virtual-waits.ts'

replaceWaits()

const { signal } = new AbortController()
const LOST = new ServiceError('service_unavailable', { isUnanswered: true })
const held = (ports: Ports) => ports.run(['take', 'reserve', 'unmark'])

describe('releaseBytes', () => {
  it('marks first, with a lease of its own', async () => {
    const ports = createPorts()
    const { documentId, attemptId, sizeBytes, ...one } = await held(ports)
    ports.pass()
    vi.spyOn(ports.reservations, 'handOver').mockRejectedValueOnce(new Error('died'))
    const releasing = releaseBytes({ ...one, documentId, attemptId, sizeBytes }, 'undo', ports.deps, signal)
    await expect(releasing).rejects.toThrow('died')
    const leaseExpiresAtMs = ports.clock.nowMs + LEASE_MS
    const [release] = ports.ledger.workspaces.get(WORKSPACE)?.releases.values() ?? []
    expect(release).toMatchObject({ documentId, attemptId, sizeBytes, cause: 'undo', leaseExpiresAtMs })
  })

  it('marks again under a fresh id when a try failed, though it was applied; up to three times', async () => {
    const ports = createPorts()
    const one = await held(ports)
    const mark = ports.ledger.mark.bind(ports.ledger)
    const marking = vi.spyOn(ports.ledger, 'mark').mockImplementation(async (...args) => {
      await mark(...args)
      throw LOST
    })
    await expect(releaseBytes(one, 'undo', ports.deps, signal)).rejects.toBe(LOST)
    expect(new Set(marking.mock.calls.map(([{ releaseId }]) => releaseId)).size).toBe(3)
    expect(ports.state()).toMatchObject({ used: 100, markers: 3, reservations: 1 })
  })

  it('does not try again what nobody foresaw', async () => {
    const ports = createPorts()
    const mark = vi.spyOn(ports.ledger, 'mark').mockRejectedValue(new Error('AccessDenied'))
    await expect(releaseBytes(await held(ports), 'undo', ports.deps, signal)).rejects.toThrow('AccessDenied')
    expect(mark).toHaveBeenCalledTimes(1)
  })

  it.each([
    ['undo', 60_000, { reason: 'request_timed_out' }],
    ['deletion', 1000, { reason: 'too_many_deletions', status: 503, retryAfterSeconds: 1 }],
  ] as const)('of an attempt’s %s retries a crowded ledger for %i ms', async (cause, retryForMs, refusal) => {
    const ports = createPorts()
    const mark = vi.spyOn(ports.ledger, 'mark').mockResolvedValue('crowded')
    await expect(releaseBytes(await held(ports), cause, ports.deps, signal)).rejects.toMatchObject(refusal)
    expect(mark.mock.calls.map(([, , ms]) => ms)).toEqual([retryForMs])
  })
})
