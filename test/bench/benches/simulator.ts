import { setTimeout as sleep } from 'node:timers/promises'
import { atMost, type Bench, shown } from '../bench.ts'
import { COPYING_S3, streamSeconds } from '../simulator/model.ts'
import { startSimulator } from '../simulator/start.ts'
import { median, sum } from '../statistics.ts'
import { startWorker } from '../worker.ts'
import type { CopyMethods } from '../workers/copy.ts'

const MIB = 1024 ** 2
/** github.com/awslabs/aws-c-s3, pull request 288: seconds by part size (MiB), for objects of these GiB, mean of three. */
const OBJECT_GIB = [1, 2, 3, 5, 10]
const PUBLISHED: [partMib: number, seconds: number[]][] = [
  [64, [3.6, 3.02, 2.69, 3.69, 5.84]],
  [128, [4.15, 3.69, 4.03, 3.69, 4.82]],
  [256, [5.54, 6.7, 6.04, 5.71, 5.92]],
  [512, [8.53, 9.06, 9.1, 9.07, 11.45]],
  [1024, [15.57, 16.76, 15.77, 13.87, 17.24]],
]
/** Not published, fitted: by CRT's source it would be 25 at 10 Gbit/s, with which 10 GiB would take longer than published. */
const CRT_CONNECTIONS = 50
const STAGGER_MS = 60
const asPercent = (part: number) => `${(part * 100).toFixed(0)} %`

/**
 * Whether the simulated S3 can be believed: one stream, and the published figures of AWS's CRT. These include some 2 s that do not
 * depend on any size (the start of their program, connections, TLS, and whatever S3 needs to complete an upload). Two numbers
 * are fitted: the connections, and this constant, as the median of the differences.
 */
export const simulatorCheck: Bench = {
  name: 'simulator',
  title: 'Whether the simulated S3 can be believed',
  async run({ isQuick, progress }) {
    const simulator = await startSimulator(COPYING_S3)
    const worker = await startWorker<CopyMethods>('workers/copy.ts', { args: [simulator.endpoint, '2000'] })
    await worker.call('copy', 1)
    const streamMib = isQuick ? 16 : 256
    const stream = await worker.call('copyLike', { sizeBytes: streamMib * MIB, partBytes: undefined, concurrency: 1 })
    progress("AWS CRT's 25 copies, all at the same time (17 s)")
    const cells = await Promise.all(
      (isQuick ? PUBLISHED.slice(0, 1) : PUBLISHED)
        .flatMap(([partMib, seconds]) =>
          seconds.map((published, index) => ({ partMib, gib: OBJECT_GIB[index] ?? 0, published })),
        )
        .map(async (cell, index) => {
          await sleep(index * STAGGER_MS)
          const plan = { sizeBytes: cell.gib * 1024 * MIB, partBytes: cell.partMib * MIB, concurrency: CRT_CONNECTIONS }
          return { ...cell, simulated: await worker.call('copyLike', plan) }
        }),
    )
    await worker.stop()
    await simulator.stop()
    const constantSeconds = median(cells.map(({ published, simulated }) => published - simulated))
    const deviations = cells.map(({ published, simulated }) => Math.abs((simulated + constantSeconds) / published - 1))
    return {
      rows: [
        atMost(
          'one stream, off the 70 MiB/s it is given',
          0.03,
          Math.abs(streamSeconds(streamMib * MIB) / stream - 1),
          asPercent,
        ),
        atMost('off the published figures, largest', 0.25, Math.max(...deviations), asPercent),
        atMost('off the published figures, mean', 0.15, sum(deviations) / deviations.length, asPercent),
        shown('constant of the published figures', `${constantSeconds.toFixed(2)} s`),
      ],
      figures: { constantSeconds, connections: CRT_CONNECTIONS, cells },
    }
  },
}
