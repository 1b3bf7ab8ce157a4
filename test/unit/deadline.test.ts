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

  /** Until when a request may work and undo, in ms from its start. */
  const timesOf = (receivedAtMs: number | undefined, processMs = PROCESS_MS) => {
    createRequestDeadline({ receivedAtMs, nowMs: NOW_MS }, () => processMs).undoSignal()
    const [workMs, undoMs] = timeouts.splice(0)
    return { workMs, undoMs }
  }

  it.each([
    ['a warm start: the process ends first', 10, { workMs: 25_500, undoMs: 27_700 }],
    ['a cold start: the gateway gives up first', 3000, { workMs: 23_500, undoMs: 25_700 }],
    ['a cold start of the longest kind', 12_000, { workMs: 14_500, undoMs: 16_700 }],
    ['a clock that is behind the gateway', -600_000, { workMs: 25_500, undoMs: 27_700 }],
    ['a clock that is far ahead: enough is left for a request', 3_600_000, { workMs: 6500, undoMs: 8700 }],
  ])('counts from when the request came in: %s', (_, waitedMs, times) => {
    expect(timesOf(NOW_MS - waitedMs)).toEqual(times)
  })

  it('is the process alone where the gateway does not say', () => {
    expect(timesOf(undefined)).toEqual({ workMs: 25_500, undoMs: 27_700 })
  })

  it('is the process where that has less time left', () => {
    expect(timesOf(NOW_MS - 3000, 4000)).toEqual({ workMs: 1500, undoMs: 3700 })
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
