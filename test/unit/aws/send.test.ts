import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import {
  BROKEN,
  CUT_OFF,
  FAILED,
  GOOD,
  NO_HTTP,
  refusal,
  THROTTLED,
  UNREADABLE,
  unavailable,
  useAnsweringStores,
} from '../../support/stores/answering-stores.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

const time = skipWaits()
const { ask, startStore } = useAnsweringStores()

describe('send', () => {
  it('names each call to listeners once, however many tries', async () => {
    const told: unknown[] = []
    const listen = (message: unknown) => void told.push(message)
    subscribe('container-file-promotion:aws-call', listen)
    const { call, calls } = await startStore(FAILED, GOOD)
    await call().finally(() => unsubscribe('container-file-promotion:aws-call', listen))
    expect(calls()).toBe(2)
    expect(told).toEqual([{ name: 'ledger.read', command: expect.any(GetItemCommand) }])
  })

  it.each([
    ['breaks', BROKEN],
    ['brings no HTTP (HPE_…)', NO_HTTP],
    ['ends in the middle of an answer', CUT_OFF],
    ['brings a success that nobody can read', UNREADABLE],
  ])('when the connection %s, sends again what reads or closes, and never what opens', async (_, answer) => {
    expect(await ask([answer, GOOD])).toEqual({ calls: 2, error: undefined })
    expect(await ask([answer, GOOD], { startsCopy: true })).toMatchObject({ calls: 1, error: unavailable(true) })
  })

  it('is in doubt about a copy that was answered with 5xx, three times, and about nothing else', async () => {
    expect(await ask([FAILED], { startsCopy: true })).toMatchObject({ calls: 3, error: unavailable(true) })
    const certain = { ...unavailable(false), cause: { call: 'ledger.read' } }
    expect(await ask([FAILED])).toMatchObject({ calls: 3, error: certain })
  })

  it('stays in doubt about a copy when a later try is refused, and not when all were', async () => {
    const refused = refusal('AccessDeniedException')
    const [inDoubt, certain] = [{ reason: 'internal_error', isUnanswered: true }, { name: 'AccessDeniedException' }]
    expect(await ask([FAILED, refused], { startsCopy: true })).toMatchObject({ error: inDoubt })
    expect(await ask([THROTTLED, refused], { startsCopy: true })).toMatchObject({ error: certain })
  })

  it('retries a throttled call for as long as its patience lasts, whatever failed before', async () => {
    const asked = await ask([FAILED, FAILED, THROTTLED], { retryForMs: 1500 })
    expect(asked).toMatchObject({ calls: time.pausesMs.length + 1, error: unavailable(false) })
    const waitedMs = time.pausesMs.reduce((sum, ms) => sum + ms, 0)
    // Another pause, of 400 ms at most, would have been longer than that.
    expect([waitedMs >= 1100, waitedMs < 1500]).toEqual([true, true])
  })

  it.each([
    [undefined, [30, 60, 120, 240, 400, 400]],
    [1000, [30, 60, 120, 240, 480, 960, 1000]],
  ])('waits longer each time, up to %s ms, by chance from half of that', async (longestPauseMs, longest) => {
    const store = await startStore(...longest.map(() => THROTTLED), GOOD)
    await store.call({ retryForMs: 10_000, ...(longestPauseMs && { longestPauseMs }) })
    const shares = time.pausesMs.map((ms, index) => ms / (longest[index] ?? 0))
    expect(shares.filter((share) => share >= 0.5 && share <= 1)).toHaveLength(longest.length)
    expect(new Set(time.pausesMs).size).toBe(longest.length)
  })

  it('counts no throttling against the tries that a failing store has', async () => {
    const answers = [THROTTLED, THROTTLED, THROTTLED, THROTTLED, FAILED, GOOD]
    expect(await ask(answers, { retryForMs: 5000 })).toEqual({ calls: 6, error: undefined })
  })
})
