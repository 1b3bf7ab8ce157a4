import { afterEach, describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import type { Progress } from '../../lib/promotion/end-attempt.ts'
import type { TakeOutcome } from '../../lib/promotion/quota-ledger.ts'
import { takeBytes } from '../../lib/promotion/reserve-bytes.ts'
import { createPorts, type Ports, WORKSPACE } from '../support/ports.ts'
import { replaceWaits } from '../support/virtual-waits.ts'

const time = { pauses: [] as number[], passes: (_ms: number) => {} }
replaceWaits(async (ms, value, { signal }) => {
  if (signal.aborted) throw signal.reason
  time.pauses.push(ms)
  time.passes(ms)
  return value
})
afterEach(() => {
  time.pauses.splice(0)
  vi.restoreAllMocks()
})

const CROWDED: TakeOutcome = { outcome: 'crowded' }

/** Ports whose clock moves while somebody waits, and what happened to each take. */
function setUp() {
  const world = { random: 0.999 }
  const ports = createPorts({ maxTakings: 2, random: () => world.random })
  time.passes = (ms) => ports.pass(ms)
  const tries = vi.spyOn(ports.ledger, 'take')
  const notes = vi.spyOn(ports.deps.admission, 'note')
  const progress: Progress = { isTaken: false, reservation: 'none', copy: 'none', unmarked: Promise.resolve(false) }
  const take = (sizeBytes = 100) => takeBytes(ports.begin({ sizeBytes }), progress, ports.request(), ports.deps)
  /** Makes the workspace look as if so many had been accepted and refused lately. */
  const heat = (accepted: number, refused: number) => {
    for (let i = 0; i < accepted + refused; i++) ports.deps.admission.note(WORKSPACE, i < accepted)
    notes.mockClear()
  }
  return { world, ports, tries, notes, take, heat, progress }
}
const fill = async (ports: Ports) => {
  await ports.run(['take'])
  await ports.run(['take'])
  vi.mocked(ports.ledger.take).mockClear()
}

describe('takeBytes', () => {
  it('takes them at once where there is room, and tells the usage', async () => {
    const { take, notes, progress } = setUp()
    expect(await take()).toMatchObject({ usage: { quotaBytes: 1000, usedBytes: 100 }, countedFrom: 1 })
    expect([time.pauses, progress.isTaken]).toEqual([[], true])
    expect(notes.mock.calls).toEqual([[WORKSPACE, true]])
  })

  it('refuses what the quota has no room for, at once and with its figures', async () => {
    const { ports, take, tries, notes, progress } = setUp()
    await ports.addDocument(ports.begin({ sizeBytes: 950 }))
    tries.mockClear()
    await expect(take()).rejects.toMatchObject({
      reason: 'storage_quota_exceeded',
      metadata: { quota_bytes: 1000, used_bytes: 950, file_bytes: 100 },
    })
    expect([tries.mock.calls.length, time.pauses, progress.isTaken]).toEqual([1, [], false])
    // The ledger was not too busy to say so.
    expect(notes.mock.calls).toEqual([[WORKSPACE, true]])
  })

  it('is patient with a crowded ledger, a moment longer each time, up to a second', async () => {
    const { take, tries, notes } = setUp()
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    for (let i = 0; i < 7; i++) tries.mockResolvedValueOnce(CROWDED)
    await take()
    expect(time.pauses).toEqual([50, 100, 200, 400, 800, 1000, 1000])
    expect(tries).toHaveBeenCalledTimes(8)
    expect(notes.mock.calls).toEqual([[WORKSPACE, true]])
  })

  it('waits by chance, from half to one and a half of that', async () => {
    const { take, tries } = setUp()
    for (let i = 0; i < 5; i++) tries.mockResolvedValueOnce(CROWDED)
    await take()
    for (const [index, pauseMs] of time.pauses.entries()) {
      const middleMs = 50 * 2 ** index
      expect([pauseMs >= middleMs / 2, pauseMs < middleMs * 1.5]).toEqual([true, true])
    }
    expect(new Set(time.pauses).size).toBe(5)
  })

  it('gives up after six seconds: 429, and nothing taken', async () => {
    const { ports, take, tries, notes } = setUp()
    await fill(ports)
    const startMs = ports.clock.nowMs
    await expect(take()).rejects.toMatchObject({ reason: 'too_many_promotions', status: 429 })
    const waitedMs = ports.clock.nowMs - startMs
    expect([waitedMs >= 6000, waitedMs < 7500]).toEqual([true, true])
    expect(tries.mock.calls.length).toBe(time.pauses.length + 1)
    expect(notes.mock.calls).toEqual([[WORKSPACE, false]])
    expect(ports.state()).toMatchObject({ used: 200, markers: 2 })
  })

  it('gives up when the time of the request is over', async () => {
    const { ports, tries, progress } = setUp()
    const controller = new AbortController()
    tries.mockImplementation(async () => {
      controller.abort()
      return CROWDED
    })
    const deadline = { signal: controller.signal, undoSignal: () => AbortSignal.timeout(1000) }
    const taking = takeBytes(ports.begin(), progress, { ...ports.request(), deadline }, ports.deps)
    await expect(taking).rejects.toMatchObject({ reason: 'too_many_promotions' })
    expect(tries).toHaveBeenCalledTimes(1)
  })

  it('tries once while the workspace is hot', async () => {
    const { ports, take, tries, heat, notes } = setUp()
    heat(10, 90)
    await fill(ports)
    await expect(take()).rejects.toMatchObject({ reason: 'too_many_promotions' })
    expect([tries.mock.calls.length, time.pauses]).toEqual([1, []])
    expect(notes.mock.calls).toEqual([[WORKSPACE, false]])
  })

  it('refuses without asking the ledger when too many were refused lately: the more there were, the longer Retry-After', async () => {
    const { world, take, tries, heat, notes } = setUp()
    world.random = 0
    const seconds: (number | undefined)[] = []
    for (const refused of [1, 5, 1000]) {
      heat(0, refused)
      const error = await take().catch((reason: ServiceError) => reason)
      expect(error).toMatchObject({ reason: 'too_many_promotions' })
      seconds.push((error as ServiceError).retryAfterSeconds)
      // A refusal is one of the load that is asked for.
      expect(notes.mock.calls).toEqual([[WORKSPACE, false]])
    }
    expect(tries).not.toHaveBeenCalled()
    expect(seconds[0]).toBeLessThan(seconds[1] ?? 0)
    expect(seconds[1]).toBeLessThan(seconds[2] ?? 0)
    expect(seconds[2]).toBe(10)
  })

  it.each(['before', 'after'] as const)(
    'does not know whether a take that failed %s it arrived has taken them, and says so',
    async (when) => {
      const { ports, take, tries, progress } = setUp()
      const lost = new ServiceError('service_unavailable', { isUnanswered: true })
      tries.mockImplementationOnce(async (reservation, signal) => {
        if (when === 'after') {
          tries.mockRestore()
          await ports.ledger.take(reservation, signal)
        }
        throw lost
      })
      await expect(take()).rejects.toBe(lost)
      expect(progress.isTaken).toBe(true)
    },
  )
})
