import type { Bench, Row } from '../bench.ts'
import type { Overload, Summary } from '../contention/scenarios.ts'
import { startContentionSimulator } from '../simulator/start.ts'

const COPY_SECONDS = [1, 20]
const SUSTAINED_BAR = 400
const BURST_SECONDS_BAR = 8
const GOODPUT_BAR = 0.3
const RECOVERED_BAR = 0.9
/** Promotions a second, tried one after the other until one rate is sustained. */
const RATES = [490, SUSTAINED_BAR, 200, 50]
/** Just enough to show that it works. */
const QUICK_RATES = [5]
const BURST = { count: 1000, copySeconds: 1 }

/**
 * One workspace under DynamoDB's own limits of 1,000 write units a second and item. The handler, the use case, the adapters
 * and the SDK's clients are the real ones; it runs on a virtual clock, in as many processes as Lambda would start.
 */
export const contention: Bench = {
  name: 'contention',
  title: 'One busy workspace, under the limits of DynamoDB',
  async run({ isQuick, progress }) {
    const simulator = await startContentionSimulator()
    const highest = async (copySeconds: number): Promise<number> => {
      for (const perSecond of isQuick ? QUICK_RATES : RATES) {
        progress(`${perSecond} a second, copies of ${copySeconds} s`)
        const seconds = isQuick ? 1 : 12
        if (await simulator.call('sustains', { perSecond, copySeconds, seconds })) return perSecond
      }
      return 0
    }
    const sustained: number[] = []
    for (const copySeconds of COPY_SECONDS) sustained.push(await highest(copySeconds))
    // However long the copies take.
    const perSecond = Math.min(...sustained)
    progress('at once')
    const burst = await simulator.call('burst', { ...BURST, count: isQuick ? 20 : BURST.count })
    progress('three times the rate')
    const { seconds, secondsAfter } = isQuick ? { seconds: 2, secondsAfter: 12 } : { seconds: 15, secondsAfter: 25 }
    const overload = await simulator.call('overload', { perSecond, copySeconds: 1, seconds, secondsAfter })
    await simulator.stop()
    return [
      ...COPY_SECONDS.map((copySeconds, index) => sustainedRow(copySeconds, sustained[index] ?? 0)),
      burstRow(burst),
      ...overloadRows(overload, perSecond, seconds),
    ]
  },
}

function sustainedRow(copySeconds: number, perSecond: number): Row {
  return {
    what: `sustained, copies of ${copySeconds} s`,
    bar: `≥ ${SUSTAINED_BAR} per s`,
    measured: `${perSecond} per s`,
    isMet: perSecond >= SUSTAINED_BAR,
  }
}

function burstRow({ answers, beyondCopySeconds, leftOpen }: Summary): Row {
  const succeeded = answers[200] ?? 0
  return {
    what: `${BURST.count} at once, copies of ${BURST.copySeconds} s`,
    bar: `all, within the copy + ${BURST_SECONDS_BAR} s`,
    measured: `${succeeded}, + ${beyondCopySeconds.toFixed(1)} s, ${leftOpen} left to their lease`,
    isMet: succeeded >= BURST.count && beyondCopySeconds <= BURST_SECONDS_BAR && leftOpen === 0,
  }
}

function overloadRows(found: Overload, perSecond: number, seconds: number): Row[] {
  const share = found.goodputUnderLoad / perSecond
  const after = found.goodputAfter / found.offeredAfter
  const percent = (part: number) => `${(part * 100).toFixed(0)} %`
  return [
    {
      what: `${seconds} s at three times ${perSecond} a second: goodput`,
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
