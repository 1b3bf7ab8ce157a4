import { planParts } from '../../../lib/aws/copy-plan.ts'
import { readConfig } from '../../../lib/config.ts'
import { asSeconds, atMost, type Bench, type Row, shown } from '../bench.ts'
import { lambdaEnvironment } from '../bundles.ts'
import { COPYING_S3, streamSeconds } from '../simulator/model.ts'
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
/** S3 really limits requests per second and prefix; for whoever is refused it comes to the same. */
const THROTTLED_TO = 8
const THROTTLED_MIB = 1024
const SIZES_MIB = [1, 4, 16, 64, 65, 100, 256, 512, 1024, 2048, 5120, 10_240]
/** Defaults of the tools; sources in docs/performance.md. */
const TOOLS = {
  'AWS CLI (8 MiB × 10)': { partBytes: 8 * MIB, concurrency: 10 },
  'rclone (4,768 MiB × 4)': { partBytes: 4768 * MIB, concurrency: 4 },
  CopyObject: { partBytes: undefined, concurrency: 1 },
}

/** The product's copy in real time on the simulated S3, with what other tools would do beside it. */
export const copy: Bench = {
  name: 'copy',
  title: 'Copy under simulated S3 (70 MiB/s per stream, 25 ms per request)',
  async run({ isQuick, progress, figures }) {
    const others = startTools(isQuick ? 64 * MIB : 5 * GIB)
    // It fails where it is awaited, below.
    others.catch(() => {})
    const simulator = await startSimulator(COPYING_S3)
    const worker = await startWorker<CopyMethods>('workers/copy.ts', { args: [simulator.endpoint] })
    await worker.call('copy', 1)
    const seconds: { sizeMib: number; seconds: number; connections: number }[] = []
    for (const sizeMib of isQuick ? [1, 100] : SIZES_MIB) {
      progress(`${sizeMib} MiB`)
      seconds.push({ sizeMib, ...(await copySeveral(sizeMib * MIB, isQuick ? 1 : 5, worker, simulator)) })
    }
    progress('throttled')
    const throttled = await copyThrottled(worker, simulator)
    progress('the other tools (CopyObject of 5 GiB takes 73 s)')
    const toolSeconds = await others
    await worker.stop()
    await simulator.stop()

    const secondsOf = (sizeBytes: number) => seconds.find(({ sizeMib }) => sizeMib * MIB === sizeBytes)?.seconds
    const rows = BARS.flatMap(({ sizeBytes, barSeconds }): Row[] => {
      const measured = secondsOf(sizeBytes)
      return measured === undefined ? [] : [atMost(`copy of ${sizeBytes / MIB} MiB`, barSeconds, measured, asSeconds)]
    })
    const mostConnections = Math.max(...seconds.map(({ connections }) => connections))
    const fiveGib = secondsOf(5 * GIB) ?? Number.NaN
    return {
      rows: [
        ...rows,
        atMost('connections in use', CONNECTIONS_BAR, mostConnections, String),
        shown(`copy of ${THROTTLED_MIB} MiB, S3 refusing more than ${THROTTLED_TO} copies at once`, inWords(throttled)),
        ...(isQuick ? [] : withConstant(fiveGib, figures.get('simulator'))),
        ...(isQuick ? [] : Object.entries(toolSeconds).map(([tool, took]) => ahead(tool, took, fiveGib))),
      ],
      figures: { seconds, throttled, toolSeconds, plans: plans() },
      plots: [
        {
          file: 'copy-time-by-size',
          title: 'Copy under simulated S3',
          x: 'MiB',
          y: 'seconds',
          kind: 'lines',
          logarithmic: 'both',
          series: [
            { name: 'promotion', points: seconds.map(({ sizeMib, seconds: y }) => ({ x: sizeMib, y })) },
            {
              name: 'one stream (computed)',
              points: seconds.map(({ sizeMib: x }) => ({ x, y: streamSeconds(x * MIB) })),
            },
          ],
        },
      ],
    }
  },
}

/** In a process and on a simulator of their own, all at the same time: they wait, they do not work. */
async function startTools(sizeBytes: number): Promise<Record<string, number>> {
  const simulator = await startSimulator(COPYING_S3)
  const worker = await startWorker<CopyMethods>('workers/copy.ts', { args: [simulator.endpoint] })
  const measured = await Promise.all(
    Object.entries(TOOLS).map(async ([tool, plan]) => {
      return [tool, await worker.call('copyLike', { ...plan, sizeBytes })] as const
    }),
  )
  await worker.stop()
  await simulator.stop()
  return Object.fromEntries(measured)
}

async function copySeveral(sizeBytes: number, times: number, worker: Worker<CopyMethods>, simulator: Simulator) {
  await simulator.call('watch', undefined)
  const seconds: number[] = []
  for (let time = 0; time < times; time++) seconds.push(await worker.call('copy', sizeBytes))
  const { mostConnections } = await simulator.call('seen', undefined)
  return { seconds: median(seconds), connections: mostConnections }
}

/** S3 answers 503 SlowDown to what is too much; the pace of the copy adapts. */
async function copyThrottled(worker: Worker<CopyMethods>, simulator: Simulator) {
  await simulator.call('become', { ...COPYING_S3, maxCopiesAtOnce: THROTTLED_TO })
  await simulator.call('watch', undefined)
  const seconds = await worker.call('copy', THROTTLED_MIB * MIB)
  const { calls } = await simulator.call('seen', undefined)
  return { concurrency: THROTTLED_TO, seconds, refused: calls.filter(({ isRefused }) => isRefused).length }
}

function inWords({ seconds, refused }: { seconds: number; refused: number }): string {
  return `${asSeconds(seconds)}, ${refused} requests refused`
}

function ahead(tool: string, toolSeconds: number, ownSeconds: number): Row {
  const bar = tool === 'CopyObject' ? 20 : 1
  const factor = toolSeconds / ownSeconds
  const measured = `${factor.toFixed(1)} × (${asSeconds(toolSeconds)})`
  return { what: `5 GiB, ahead of ${tool}`, bar: `≥ ${bar} ×`, measured, isMet: factor >= bar }
}

/** AWS CRT's figures contain a constant that the model has not: what the copy would take if all of it was S3's. */
function withConstant(seconds: number, simulator: Record<string, unknown> | undefined): Row[] {
  const constant = simulator?.constantSeconds
  return typeof constant === 'number'
    ? [shown('5 GiB, with the constant of the published figures', asSeconds(seconds + constant))]
    : []
}

/** What is sent for a file of each size. */
function plans() {
  const config = readConfig(lambdaEnvironment('http://unused'))
  return SIZES_MIB.map((sizeMib) => ({ sizeMib, ...planParts(sizeMib * MIB, config) }))
}
