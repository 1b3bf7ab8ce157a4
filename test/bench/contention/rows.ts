import { type BenchContext, type Row, shown } from '../bench.ts'
import { BEFORE } from './before.ts'
import type { Overload, Summary } from './scenarios.ts'

export const SUSTAINED_BAR = 400
const GOODPUT_BAR = 0.3
const RECOVERED_BAR = 0.9
const LEDGER_UNITS_BAR = 4
/** Six units and $15.60 for the promotion itself; one unit of $0.625 per million for the index that lists its document. */
const AT_REST_BARS = { calls: 6, units: 6 + 1, dollars: 15.6 + 0.625 }
export const UNDER_WAY = 300

export interface Found {
  sustained: Record<number, number>
  /** That of copies of 1 s. */
  perSecond: number
  burst: Summary
  overload: Overload
  refusals: Summary
  unitsAtRest: { usual: number; first: number }
}

export function sustainedRow(copySeconds: number, perSecond: number): Row {
  return {
    what: `sustained, copies of ${copySeconds} s`,
    bar: `≥ ${SUSTAINED_BAR} per s`,
    measured: `${perSecond} per s (before: ${BEFORE.sustained[copySeconds]})`,
    isMet: perSecond >= SUSTAINED_BAR,
  }
}

interface Burst {
  count: number
  withinSeconds: number
  succeeded: number
  beyondSeconds: number
  leftOpen: number
  before: string
}

export function burstRow(
  what: string,
  { count, withinSeconds, succeeded, beyondSeconds, leftOpen, before }: Burst,
): Row {
  return {
    what,
    bar: `all, within the copy + ${withinSeconds} s`,
    measured: `${succeeded}, + ${beyondSeconds.toFixed(1)} s, ${leftOpen} left to their lease (before: ${before})`,
    isMet: succeeded >= count && beyondSeconds <= withinSeconds && leftOpen === 0,
  }
}

export function overloadRows(found: Overload, perSecond: number): Row[] {
  const share = found.goodputUnderLoad / perSecond
  const after = found.goodputAfter / found.offeredAfter
  const percent = (part: number) => `${(part * 100).toFixed(0)} %`
  const { p50, most } = found.retryAfterSeconds
  const refusals = Object.entries(found.answers).filter(([answer]) => answer !== '200')
  const others = refusals.map(([answer, count]) => `${count} × ${answer}`).join(', ')
  return [
    {
      what: `a minute at three times ${perSecond} a second: goodput`,
      bar: `≥ ${percent(GOODPUT_BAR)} of it`,
      measured: `${percent(share)} (before: ${BEFORE.overload})`,
      isMet: share >= GOODPUT_BAR,
    },
    {
      what: '10 s after it, at 0.9 of the rate: answered 200',
      bar: `≥ ${percent(RECOVERED_BAR)}`,
      measured: `${percent(after)}, ${found.leftOpen} left to their lease`,
      isMet: after >= RECOVERED_BAR,
    },
    shown('the other answers of both', others === '' ? 'none' : `${others}; Retry-After ${p50} s, at most ${most} s`),
  ]
}

export function ledgerRow({ ledger: { largestWrite, largestRefusal } }: Summary): Row {
  return {
    what: `write units of a ledger write with ${UNDER_WAY} under way; of a refusal for the full quota`,
    bar: `≤ ${LEDGER_UNITS_BAR}; ≤ ${LEDGER_UNITS_BAR}`,
    measured: `${largestWrite}; ${largestRefusal} (before: ${BEFORE.writes})`,
    isMet: largestWrite <= LEDGER_UNITS_BAR && largestRefusal <= LEDGER_UNITS_BAR,
  }
}

/** @param figures of the benches calls and cost, which look at a promotion at rest more closely */
export function atRestRows({ usual, first }: Found['unitsAtRest'], figures: BenchContext['figures']): Row[] {
  const { depth } = (figures.get('calls') ?? {}) as { depth?: number }
  const { perMillion = [] } = (figures.get('cost') ?? {}) as { perMillion?: { sizeMib: number; own: number }[] }
  const dollars = perMillion.find(({ sizeMib }) => sizeMib === 1)?.own
  if (depth === undefined || dollars === undefined)
    throw new Error('run npm run bench -- calls latency streamed cost first')
  const { calls, units: most, dollars: price } = AT_REST_BARS
  return [
    {
      what: 'a plain promotion at rest: calls one after the other, write units, dollars per million',
      bar: `≤ ${calls}, ≤ ${most}, ≤ ${price.toFixed(2)}`,
      measured: `${depth}, ${usual}, ${dollars.toFixed(2)} (before: ${BEFORE.atRest})`,
      isMet: depth <= calls && usual <= most && dollars <= price,
    },
    shown('write units of the first promotion since the resolver looked at the workspace', String(first)),
  ]
}
