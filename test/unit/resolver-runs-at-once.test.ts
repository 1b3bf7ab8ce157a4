import { afterEach, describe, expect, it, vi } from 'vitest'
import { dieIn, IDLE, nth, resolve } from '../support/maintenance/resolver-runs.ts'
import { createPorts, LEASE_MS, NOTHING } from '../support/ports.ts'

afterEach(() => vi.restoreAllMocks())

describe('resolveExpiredReservations, in trouble', () => {
  describe('two runs at once', () => {
    it('do the work once', async () => {
      const ports = createPorts()
      for (let n = 0; n < 30; n++) await dieIn(ports, n)
      ports.pass()
      const fence = vi.spyOn(ports.documents, 'fence')
      const reports = await Promise.all([resolve(ports), resolve(ports), resolve(ports)])
      expect(reports.reduce((sum, { released }) => sum + released, 0)).toBe(30)
      expect(reports.reduce((sum, { elsewhere }) => sum + elsewhere, 0)).toBe(60)
      expect(fence).toHaveBeenCalledTimes(30)
      for (let n = 0; n < 30; n++) expect(ports.state(nth(n))).toEqual(NOTHING)
    })

    it('leave a workspace to the one that claimed it until that is certainly over', async () => {
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

    it('the next one resolves what ended while the one before looked at the workspace', async () => {
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

    it('the next one ends a release that a killed one had begun', async () => {
      const ports = createPorts()
      await dieIn(ports, 1)
      ports.pass()
      const endsAtMs = ports.clock.nowMs + 55_000
      const dying = vi.spyOn(ports.reservations, 'close').mockImplementation(() => new Promise(() => {}))
      void resolve(ports, { maxResolutions: 100, endsAtMs })
      await vi.waitFor(() => expect(dying).toHaveBeenCalled())
      dying.mockRestore()
      expect(ports.state(nth(1))).toMatchObject({ markers: 1, used: 100 })
      ports.pass(55_000)
      expect(await resolve(ports)).toMatchObject({ workspaces: 1, failed: 0 })
      expect(ports.state(nth(1))).toEqual(NOTHING)
    })
  })
})
