import { asSeconds, atMost, type Bench, type Row } from '../bench.ts'
import { lambdaEnvironment } from '../bundles.ts'
import { type Simulator, startSimulator } from '../simulator/start.ts'
import { median } from '../statistics.ts'
import { startWorker, type Worker } from '../worker.ts'
import type { CopyMethods } from '../workers/copy.ts'

const MIB = 1024 ** 2
const GIB = 1024 * MIB
const BARS = [
  { sizeBytes: 100 * MIB, barSeconds: 0.6 },
  { sizeBytes: GIB, barSeconds: 1.2 },
  { sizeBytes: 5 * GIB, barSeconds: 2.5 },
]
const CONNECTIONS_BAR = 64
const COPYING_S3 = { latencyMs: 25, streamBytesPerSecond: 70 * MIB }

/** The product's copy in real time on the simulated S3. */
export const copy: Bench = {
  name: 'copy',
  title: 'Copy under simulated S3 (70 MiB/s per stream, 25 ms per request)',
  async run({ isQuick, progress }) {
    const simulator = await startSimulator(COPYING_S3)
    const worker = await startWorker<CopyMethods>('workers/copy.ts', { env: lambdaEnvironment(simulator.endpoint) })
    await worker.call('copy', 1)
    const seconds: { sizeMib: number; seconds: number; connections: number }[] = []
    for (const { sizeBytes } of isQuick ? BARS.slice(0, 1) : BARS) {
      const sizeMib = sizeBytes / MIB
      progress(`${sizeMib} MiB`)
      seconds.push({ sizeMib, ...(await copySeveral(sizeBytes, isQuick ? 1 : 5, worker, simulator)) })
    }
    await worker.stop()
    await simulator.stop()

    const secondsOf = (sizeBytes: number) => seconds.find(({ sizeMib }) => sizeMib * MIB === sizeBytes)?.seconds
    const rows = BARS.flatMap(({ sizeBytes, barSeconds }): Row[] => {
      const measured = secondsOf(sizeBytes)
      return measured === undefined ? [] : [atMost(`copy of ${sizeBytes / MIB} MiB`, barSeconds, measured, asSeconds)]
    })
    const mostConnections = Math.max(...seconds.map(({ connections }) => connections))
    return [...rows, atMost('connections in use', CONNECTIONS_BAR, mostConnections, String)]
  },
}

async function copySeveral(sizeBytes: number, times: number, worker: Worker<CopyMethods>, simulator: Simulator) {
  await simulator.call('watch', undefined)
  const seconds: number[] = []
  for (let time = 0; time < times; time++) seconds.push(await worker.call('copy', sizeBytes))
  const { mostConnections } = await simulator.call('seen', undefined)
  return { seconds: median(seconds), connections: mostConnections }
}
