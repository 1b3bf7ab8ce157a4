import type { Row } from '../bench.ts'
import type { Overload, Summary } from './scenarios.ts'

export const SUSTAINED_BAR = 400
const BURST_SECONDS_BAR = 8
const GOODPUT_BAR = 0.3
const RECOVERED_BAR = 0.9

export interface Found {
  sustained: Record<number, number>
  /** However long the copies take. */
  perSecond: number
  burst: Summary
  overload: Overload & { seconds: number }
}

export function sustainedRow(copySeconds: number, perSecond: number): Row {
  return {
    what: `sustained, copies of ${copySeconds} s`,
    bar: `≥ ${SUSTAINED_BAR} per s`,
    measured: `${perSecond} per s`,
    isMet: perSecond >= SUSTAINED_BAR,
  }
}

export function burstRow({ count, copySeconds }: { count: number; copySeconds: number }, found: Summary): Row {
  const succeeded = found.answers[200] ?? 0
  const beyondSeconds = found.beyondCopySeconds
  return {
    what: `${count} at once, copies of ${copySeconds} s`,
    bar: `all, within the copy + ${BURST_SECONDS_BAR} s`,
    measured: `${succeeded}, + ${beyondSeconds.toFixed(1)} s, ${found.leftOpen} left to their lease`,
    isMet: succeeded >= count && beyondSeconds <= BURST_SECONDS_BAR && found.leftOpen === 0,
  }
}

export function overloadRows(found: Found['overload'], perSecond: number): Row[] {
  const share = found.goodputUnderLoad / perSecond
  const after = found.goodputAfter / found.offeredAfter
  const percent = (part: number) => `${(part * 100).toFixed(0)} %`
  return [
    {
      what: `${found.seconds} s at three times ${perSecond} a second: goodput`,
      bar: `≥ ${percent(GOODPUT_BAR)} of it`,
      measured: percent(share),
      isMet: share >= GOODPUT_BAR,
    },
    {
      what: '10 s after it, at 0.9 of the rate: answered 200',
      bar: `≥ ${percent(RECOVERED_BAR)}`,
      measured: `${percent(after)}, ${found.leftOpen} left to their lease`,
      isMet: after >= RECOVERED_BAR,
    },
  ]
}
