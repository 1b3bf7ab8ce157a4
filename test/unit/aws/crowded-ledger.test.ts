import { expect, it } from 'vitest'
import { createLedger } from '../../../lib/aws/dynamodb/ledger.ts'
import { clientOf, conditionFailed } from '../../support/stores/client-of.ts'
import { LEDGER_SETTINGS, newAttempt, newRefund, signal, storedLedger } from '../../support/stores/ledger-values.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

const time = skipWaits()
const attempt = newAttempt()
const refund = newRefund(attempt)
const WORKSPACE = storedLedger()

/** A ledger that is crowded for so many tries. */
function setUp(triesRefused: number) {
  const { client, sent } = clientOf({
    UpdateItemCommand: () => (sent.length <= triesRefused ? conditionFailed(WORKSPACE) : { Attributes: WORKSPACE }),
  })
  return { ledger: createLedger({ ...LEDGER_SETTINGS, client, tableName: 'workspaces' }), sent }
}
const waitedMs = () => time.pausesMs.reduce((sum, ms) => sum + ms, 0)

it('a hold waits for a place, longer each time, up to 1.3 s', async () => {
  const { ledger, sent } = setUp(8)
  expect(await ledger.hold(attempt, signal, 60_000)).toMatchObject({ outcome: 'held', ledger: { version: 7 } })
  expect(sent).toHaveLength(9)
  expect(time.pausesMs.every((ms, index) => ms <= Math.min(1300, 30 * 2 ** index))).toBe(true)
  expect(time.pausesMs.at(-1)).toBeGreaterThan(600)
})

it('gives up when the caller’s patience is over: about ten tries in six seconds', async () => {
  const { ledger, sent } = setUp(Number.POSITIVE_INFINITY)
  expect(await ledger.hold(attempt, signal, 6000)).toMatchObject({ outcome: 'crowded' })
  expect([waitedMs() > 4500, waitedMs() < 6000]).toEqual([true, true])
  expect([sent.length >= 8, sent.length <= 15]).toEqual([true, true])
})

it('does not wait for room that is not there', async () => {
  const { ledger, sent } = setUp(Number.POSITIVE_INFINITY)
  expect(await ledger.hold(newAttempt({ sizeBytes: 901 }), signal, 6000)).toMatchObject({ outcome: 'quota_exceeded' })
  expect(sent).toHaveLength(1)
})

it('gives up when the time of the request is over', async () => {
  const { ledger, sent } = setUp(Number.POSITIVE_INFINITY)
  const ended = new AbortController()
  time.beforePause = () => ended.abort()
  expect(await ledger.hold(attempt, ended.signal, 6000)).toMatchObject({ outcome: 'crowded' })
  expect(sent).toHaveLength(1)
})

it('a refund waits for a place, some 50 ms at a time', async () => {
  const { ledger } = setUp(20)
  expect(await ledger.beginRefund(refund, signal, 1500)).toMatchObject({ refundVersion: 7 })
  expect(Math.max(...time.pausesMs)).toBeLessThanOrEqual(65)
  // So it does not take the item's writes from those who free places.
  expect(waitedMs()).toBeGreaterThan(500)
})
