import { afterEach, describe, expect, it, vi } from 'vitest'
import { createPorts, LEASE_MS, NOTHING } from '../../support/ports.ts'
import { dieIn, IDLE, nth, resolve } from '../../support/unit/resolver-runs.ts'

afterEach(() => vi.restoreAllMocks())

describe('resolveExpiredReservations, in trouble', () => {
  describe('two runs at once', () => {
    it('leave a workspace to the one that keeps it until that is certainly over', async () => {
      const ports = createPorts()
      await dieIn(ports, 1)
      ports.pass()
      const endsAtMs = ports.clock.nowMs + 55_000
      const dying = vi.spyOn(ports.documents, 'fence').mockImplementation(() => new Promise(() => {}))
      const killed = resolve(ports, { maxResolutions: 100, endsAtMs })
      await vi.waitFor(() => expect(dying).toHaveBeenCalled())
      dying.mockRestore()
      ports.pass(54_999)
      expect(await resolve(ports)).toEqual(IDLE)
      ports.pass(1)
      expect(await resolve(ports)).toEqual({ ...IDLE, workspaces: 1, released: 1, oldestMs: 55_000 })
      expect(ports.state(nth(1))).toEqual(NOTHING)
      expect(await Promise.race([killed, 'never ends'])).toBe('never ends')
    })

    it('the next one resolves what ended while the one before was at work', async () => {
      const ports = createPorts()
      await dieIn(ports, 1)
      ports.pass(50)
      await dieIn(ports, 1)
      ports.pass(LEASE_MS - 50)
      const fence = ports.documents.fence.bind(ports.documents)
      vi.spyOn(ports.documents, 'fence').mockImplementation(async (...args) => {
        ports.pass(100)
        return fence(...args)
      })
      expect(await resolve(ports)).toMatchObject({ released: 1 })
      ports.pass(60_000)
      expect(await resolve(ports)).toMatchObject({ released: 1 })
      expect(ports.state(nth(1))).toEqual(NOTHING)
    })
  })
})
