import { asMib, atMost, type Bench } from '../bench.ts'
import { COPYING_S3 } from '../simulator/model.ts'
import { startSimulator } from '../simulator/start.ts'
import { median } from '../statistics.ts'
import { startWorker } from '../worker.ts'
import type { CopyMethods } from '../workers/copy.ts'

const MIB = 1024 ** 2
const BAR_BYTES = 15 * MIB
const SIZES_MIB = [1, 16, 100, 1024, 5 * 1024, 10 * 1024, 20 * 1024, 50 * 1024]
/** The whole range takes seconds instead of a minute; memory does not care how long S3 takes. */
const SPEED = 20
/** As Lambda's runtime for Node.js starts it: 90 % and 5 % of the function's 1,024 MiB. */
const HEAP_OF_FUNCTION = ['--max-old-space-size=922', '--max-semi-space-size=51']
const PROCESSES = 3
/** Copies of 1 MiB that a function made before. */
const AGES = { new: 1, old: 300 }

/**
 * The largest resident set during a copy: of processes that make one such copy each, and of one that goes through the range.
 * V8 keeps the garbage of earlier requests for long, so that the latter shows the requests it has had more than the sizes.
 */
export const memory: Bench = {
  name: 'memory',
  title: 'Memory while copying 1 MiB to 50 GiB',
  async run({ isQuick, progress }) {
    const simulator = await startSimulator({ ...COPYING_S3, speed: SPEED })
    const peakOf = async (sizeMib: number, copiesBefore: number) => {
      const options = { args: [simulator.endpoint], execArgv: HEAP_OF_FUNCTION }
      const worker = await startWorker<CopyMethods>('workers/copy.ts', options)
      for (let copy = 0; copy < copiesBefore; copy++) await worker.call('copy', MIB)
      const rssBytes = await worker.call('copyWatched', sizeMib * MIB)
      await worker.stop()
      return rssBytes
    }
    const peaks = []
    for (const sizeMib of isQuick ? [1, 1024] : SIZES_MIB) {
      const rssBytes: Record<keyof typeof AGES, number[]> = { new: [], old: [] }
      for (let process = 0; process < (isQuick ? 1 : PROCESSES); process++) {
        progress(`${sizeMib} MiB, process ${process + 1}`)
        rssBytes.new.push(await peakOf(sizeMib, AGES.new))
        rssBytes.old.push(await peakOf(sizeMib, isQuick ? 5 : AGES.old))
      }
      peaks.push({ sizeMib, newBytes: median(rssBytes.new), oldBytes: median(rssBytes.old) })
    }
    progress('one process through the range')
    const throughRange = await peaksThroughRange(simulator.endpoint, isQuick ? [1, 1024] : SIZES_MIB)
    await simulator.stop()
    const row = (what: string, values: number[]) => {
      const [smallest = 0] = values
      return atMost(what, BAR_BYTES, Math.max(...values) - smallest, asMib, ` over ${asMib(smallest)}`)
    }
    return {
      rows: [
        row(
          'growth of the resident set, first copy',
          peaks.map(({ newBytes }) => newBytes),
        ),
        row(
          `of a function after ${AGES.old} copies`,
          peaks.map(({ oldBytes }) => oldBytes),
        ),
        row(
          'of one that copies through the whole range',
          throughRange.map(({ rssBytes }) => rssBytes),
        ),
      ],
      figures: { speed: SPEED, processes: PROCESSES, peaks, throughRange },
      plots: [
        {
          file: 'memory-by-size',
          title: 'Largest resident set during a copy',
          x: 'MiB copied',
          y: 'MiB resident',
          kind: 'lines',
          logarithmic: 'x',
          series: [
            { name: 'first copy', points: peaks.map(({ sizeMib: x, newBytes }) => ({ x, y: newBytes / MIB })) },
            {
              name: `after ${AGES.old} copies`,
              points: peaks.map(({ sizeMib: x, oldBytes }) => ({ x, y: oldBytes / MIB })),
            },
            {
              name: 'through the range',
              points: throughRange.map(({ sizeMib: x, rssBytes }) => ({ x, y: rssBytes / MIB })),
            },
          ],
        },
      ],
    }
  },
}

async function peaksThroughRange(endpoint: string, sizesMib: readonly number[]) {
  const worker = await startWorker<CopyMethods>('workers/copy.ts', { args: [endpoint], execArgv: HEAP_OF_FUNCTION })
  for (let copy = 0; copy < AGES.old; copy++) await worker.call('copy', MIB)
  const peaks = []
  for (const sizeMib of sizesMib) peaks.push({ sizeMib, rssBytes: await worker.call('copyWatched', sizeMib * MIB) })
  await worker.stop()
  return peaks
}
