import { afterEach, describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import { completeRelease, releaseBytes } from '../../lib/promotion/release-bytes.ts'
import type { MarkedRelease } from '../../lib/promotion/reservations.ts'
import { createPorts, LEASE_MS, NOTHING, ONE_DOCUMENT, type Ports, WORKSPACE } from '../support/ports.ts'
import { newRelease } from '../support/stores/ledger-values.ts'
import { replaceWaits } from '../support/virtual-waits.ts'

const pauses: number[] = []
replaceWaits(async (ms, value, { signal }) => {
  pauses.push(ms)
  if (signal.aborted) throw signal.reason
  return value
})
afterEach(() => void pauses.splice(0))

const { signal } = new AbortController()
const LOST = new ServiceError('service_unavailable', { isUnanswered: true })
const held = (ports: Ports) => ports.run(['take', 'open', 'unmark'])
const ids = (ports: Ports) => {
  const mark = vi.spyOn(ports.ledger, 'mark')
  return () => mark.mock.calls.map(([{ releaseId }]) => releaseId)
}

describe('releaseBytes', () => {
  it('gives the bytes of a reservation back, and takes it away', async () => {
    const ports = createPorts()
    const one = await held(ports)
    expect(await releaseBytes(one, 'undo', ports.deps, signal)).toEqual({ usage: { quotaBytes: 1000, usedBytes: 0 } })
    expect(ports.state()).toEqual(NOTHING)
    expect(await releaseBytes(one, 'undo', ports.deps, signal)).toBeUndefined()
    expect(ports.state()).toEqual(NOTHING)
  })

  it('gives them back once when many do so at once', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const one = await held(ports)
    const released = await Promise.all(Array.from({ length: 5 }, () => releaseBytes(one, 'undo', ports.deps, signal)))
    expect(released.filter((each) => each?.usage !== undefined)).toHaveLength(1)
    expect(ports.state()).toMatchObject({ used: 100, markers: 0, reservations: 0 })
  })

  it('marks first, with a lease of its own', async () => {
    const ports = createPorts()
    const one = await held(ports)
    ports.pass()
    vi.spyOn(ports.reservations, 'close').mockRejectedValueOnce(new Error('died'))
    await expect(releaseBytes(one, 'undo', ports.deps, signal)).rejects.toThrow('died')
    const [release] = ports.ledger.workspaces.get(WORKSPACE)?.releases.values() ?? []
    const { documentId, attemptId, sizeBytes } = one
    const leaseExpiresAtMs = ports.clock.nowMs + LEASE_MS
    expect(release).toMatchObject({ documentId, attemptId, sizeBytes, purpose: 'undo', leaseExpiresAtMs })
  })

  it.each<['before' | 'after', number]>([
    ['before', 0],
    ['after', 2],
  ])('marks again under a fresh id when a try failed %s it was applied', async (when, left) => {
    const ports = createPorts()
    const one = await held(ports)
    const mark = ports.ledger.mark.bind(ports.ledger)
    const marking = vi.spyOn(ports.ledger, 'mark')
    for (let i = 0; i < 2; i++) {
      marking.mockImplementationOnce(async (...args) => {
        if (when === 'after') await mark(...args)
        throw LOST
      })
    }
    expect(await releaseBytes(one, 'undo', ports.deps, signal)).toBeDefined()
    expect(new Set(marking.mock.calls.map(([{ releaseId }]) => releaseId)).size).toBe(3)
    expect(ports.state()).toMatchObject({ used: 0, markers: left, reservations: 0 })
    // What the failed tries have marked finds nothing left to give back.
    await ports.resolveAll()
    expect(ports.state()).toEqual(NOTHING)
  })

  it('gives up after three failures, and leaves the reservation to the resolver', async () => {
    const ports = createPorts()
    const one = await held(ports)
    const used = ids(ports)
    vi.spyOn(ports.ledger, 'mark').mockRejectedValue(LOST)
    await expect(releaseBytes(one, 'undo', ports.deps, signal)).rejects.toBe(LOST)
    expect(new Set(used()).size).toBe(3)
    expect(ports.state()).toMatchObject({ used: 100, reservations: 1 })
  })

  it('does not try again what nobody foresaw', async () => {
    const ports = createPorts()
    const mark = vi.spyOn(ports.ledger, 'mark').mockRejectedValue(new Error('AccessDenied'))
    await expect(releaseBytes(await held(ports), 'undo', ports.deps, signal)).rejects.toThrow('AccessDenied')
    expect(mark).toHaveBeenCalledTimes(1)
  })

  it('is patient with a crowded ledger for as long as there is time, with jitter', async () => {
    const ports = createPorts()
    const one = await held(ports)
    const mark = vi.spyOn(ports.ledger, 'mark')
    for (let i = 0; i < 200; i++) mark.mockResolvedValueOnce('crowded')
    expect(await releaseBytes(one, 'undo', ports.deps, signal)).toBeDefined()
    expect(pauses).toHaveLength(200)
    expect([Math.min(...pauses) >= 25, Math.max(...pauses) < 75]).toEqual([true, true])
    expect(new Set(pauses).size).toBeGreaterThan(100)
  })

  it('ends with its time', async () => {
    const ports = createPorts()
    const controller = new AbortController()
    vi.spyOn(ports.ledger, 'mark').mockImplementation(async () => {
      controller.abort()
      return 'crowded'
    })
    const releasing = releaseBytes(await held(ports), 'undo', ports.deps, controller.signal)
    await expect(releasing).rejects.toMatchObject({ reason: 'promotion_timed_out' })
    expect(pauses).toHaveLength(1)
  })

  it('refuses a deletion within a second where the ledger is crowded: somebody waits', async () => {
    const ports = createPorts()
    const document = await ports.addDocument()
    await ports.documents.retire(document, signal)
    const marking = vi.spyOn(ports.ledger, 'mark').mockImplementation(async () => {
      ports.pass(100)
      return 'crowded'
    })
    const refused = { reason: 'too_many_deletions', status: 503, retryAfterSeconds: 1 }
    await expect(releaseBytes(document, 'deletion', ports.deps, signal)).rejects.toMatchObject(refused)
    expect(marking).toHaveBeenCalledTimes(10)
    marking.mockRestore()
    expect(await releaseBytes(document, 'deletion', ports.deps, signal)).toMatchObject({ usage: { usedBytes: 0 } })
  })
})

describe('completeRelease', () => {
  it.each([
    ['undo', ['reservations.close', 'ledger.release', 'reservations.remove']],
    ['deletion', ['documents.close', 'ledger.release', 'documents.finish']],
  ] as const)('may be repeated after it failed at any step, of an attempt’s %s', async (purpose, steps) => {
    for (const step of steps) {
      const [port, method] = step.split('.') as ['ledger', string]
      for (const when of ['before', 'after']) {
        const ports = createPorts()
        await ports.addDocument()
        const one = purpose === 'undo' ? await held(ports) : await ports.addDocument()
        if (purpose === 'deletion') await ports.documents.retire(one, signal)
        await ports.objects.discard(one.objectKey, signal)
        const release = await ports.ledger.mark(newRelease(one, purpose), signal)
        if (release === 'crowded') throw new Error('not marked')
        const target = ports[port] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
        const original = target[method]?.bind(target)
        vi.spyOn(target, method).mockImplementationOnce(async (...args) => {
          if (when === 'after') await original?.(...args)
          throw LOST
        })
        await expect(completeRelease(release, ports.deps, signal)).rejects.toBe(LOST)
        await completeRelease(release, ports.deps, signal)
        expect([step, when, ports.state()]).toEqual([step, when, ONE_DOCUMENT])
      }
    }
  })

  it.each(['undo', 'deletion'] as const)(
    'finishes the other release that has closed an attempt’s %s',
    async (purpose) => {
      const ports = createPorts()
      await ports.addDocument()
      const one = purpose === 'undo' ? await held(ports) : await ports.addDocument()
      if (purpose === 'deletion') await ports.documents.retire(one, signal)
      await ports.objects.discard(one.objectKey, signal)
      const marked = []
      for (let n = 0; n < 2; n++) marked.push(await ports.ledger.mark(newRelease(one, purpose), signal))
      const [dead, late] = marked as MarkedRelease[]
      if (!dead || !late) throw new Error('not marked')
      await ports[purpose === 'undo' ? 'reservations' : 'documents'].close(dead, signal)
      expect(await completeRelease(late, ports.deps, signal)).toMatchObject({ usage: { usedBytes: 100 } })
      expect(ports.state()).toEqual(ONE_DOCUMENT)
    },
  )
})
