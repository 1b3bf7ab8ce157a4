import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createRequestDeadline } from '../../lib/deadline.ts'

const NOW_MS = Date.parse('2026-11-21T09:38:35.556Z')
const PROCESS_MS = 28_000

describe('the deadline of a request', () => {
  const timeouts: number[] = []
  beforeEach(() => {
    timeouts.length = 0
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      timeouts.push(ms)
      return new AbortController().signal
    })
    vi.spyOn(performance, 'now').mockReturnValue(5000)
  })
  afterEach(() => vi.restoreAllMocks())

  it.each([
    ['a warm start: the process ends first', 10, PROCESS_MS, 27_700],
    ['a cold start: the gateway gives up first', 3000, PROCESS_MS, 25_700],
    ['a cold start of the longest kind', 12_000, PROCESS_MS, 16_700],
    ['a clock that is behind the gateway', -600_000, PROCESS_MS, 27_700],
    ['a clock that is far ahead: enough is left for a request', 3_600_000, PROCESS_MS, 8700],
    ['a gateway that does not say', undefined, PROCESS_MS, 27_700],
    ['a process that has less time left', 3000, 4000, 3700],
  ])('counts from when the request came in: %s', (_, waitedMs, processMs, undoMs) => {
    const receivedAtMs = waitedMs && NOW_MS - waitedMs
    createRequestDeadline({ receivedAtMs, nowMs: NOW_MS }, () => processMs).undoSignal()
    expect(timeouts).toEqual([undoMs - 2200, undoMs])
  })

  it('goes on by a clock that nobody sets', () => {
    const deadline = createRequestDeadline({ receivedAtMs: NOW_MS - 3000, nowMs: NOW_MS }, () => PROCESS_MS)
    vi.spyOn(Date, 'now').mockReturnValue(0)
    vi.spyOn(performance, 'now').mockReturnValue(5000 + 24_000)
    timeouts.length = 0
    deadline.undoSignal()
    expect(timeouts).toEqual([1700])
  })
})
