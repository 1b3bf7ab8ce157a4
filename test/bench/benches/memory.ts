import { asMib, atMost, type Bench } from '../bench.ts'
import { COPYING_S3 } from '../simulator/model.ts'
import { startSimulator } from '../simulator/start.ts'
import { startWorker } from '../worker.ts'
import type { CopyMethods } from '../workers/copy.ts'

const MIB = 1024 ** 2
const BAR_BYTES = 15 * MIB
const SIZES_MIB = [1, 16, 100, 1024, 5 * 1024, 10 * 1024, 20 * 1024, 50 * 1024]
/** The whole range takes seconds instead of a minute; memory does not care how long S3 takes. */
const SPEED = 20
const WARM_UP = 300
const EACH = 3

/** The largest resident set of one process that copies ever larger files, on a simulated S3 that is 20 times faster. */
export const memory: Bench = {
  name: 'memory',
  title: 'Memory while copying 1 MiB to 50 GiB',
  async run({ isQuick, progress }) {
    const simulator = await startSimulator({ ...COPYING_S3, speed: SPEED })
    const worker = await startWorker<CopyMethods>('workers/copy.ts', { args: [simulator.endpoint] })
    progress('warming up')
    for (let time = 0; time < (isQuick ? 5 : WARM_UP); time++) await worker.call('copy', 1)
    const peaks: { sizeMib: number; rssBytes: number }[] = []
    for (const sizeMib of isQuick ? [1, 1024] : SIZES_MIB) {
      progress(`${sizeMib} MiB`)
      let rssBytes = 0
      for (let time = 0; time < EACH; time++) {
        rssBytes = Math.max(rssBytes, await worker.call('copyWatched', sizeMib * MIB))
      }
      peaks.push({ sizeMib, rssBytes })
    }
    await worker.stop()
    await simulator.stop()
    const smallest = peaks[0]?.rssBytes ?? 0
    const grown = Math.max(...peaks.map(({ rssBytes }) => rssBytes)) - smallest
    return {
      rows: [atMost('growth of the resident set', BAR_BYTES, grown, asMib, ` over ${asMib(smallest)}`)],
      figures: { speed: SPEED, peaks },
    }
  },
}
