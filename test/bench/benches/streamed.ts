import { readServiceDefinition } from '../../../infra/local/service-definition.ts'
import { readConfig } from '../../../lib/config.ts'
import { asMib, asSeconds, type Bench, type Row, shown } from '../bench.ts'
import { ROOT } from '../bundles.ts'
import { median } from '../statistics.ts'
import { startWorker } from '../worker.ts'
import type { StandInMethods } from '../workers/stand-ins.ts'
import type { CopyCost, StreamedMethods } from '../workers/streamed.ts'

const SIZE_MIB = 256
const SOURCE_KEY = 'sandboxes/ws_bench/sess_1/file.bin'
const WAYS = ['inParts', 'whole', 'streamed'] as const
type Way = (typeof WAYS)[number]
const WHOLE_UP_TO_BYTES = 5 * 1024 ** 3

/**
 * Server-side copy by the plan that ships, the same as one CopyObject, and streaming through the process: in turns, each in
 * a fresh process, on the same embedded S3 (s3rver, but for how it joins parts: infra/local/s3-uploads.ts).
 */
export const streamed: Bench = {
  name: 'streamed',
  title: 'Against GetObject streamed into PutObject, 256 MiB on the embedded S3',
  async run({ isQuick, progress }) {
    const definition = await readServiceDefinition(ROOT, 'local')
    // The copy by the plan that ships, not by the local stage's, which has small parts for demonstrations.
    const { MULTIPART_THRESHOLD_BYTES: _, MIN_PART_BYTES: __, ...environment } = definition.environment
    const config = readConfig(environment)
    const sizeMib = isQuick ? 72 : SIZE_MIB
    const standIns = await startWorker<StandInMethods>('workers/stand-ins.ts')
    const { s3Endpoint } = await standIns.call('start', definition)
    await standIns.call('putFile', { Bucket: config.sandboxBucket, Key: SOURCE_KEY, mib: sizeMib })
    const costs: Record<Way, CopyCost[]> = { inParts: [], whole: [], streamed: [] }
    const rounds = isQuick ? 1 : 5
    for (let round = 0; round < rounds; round++) {
      progress(`round ${round + 1} of ${rounds}`)
      for (const way of WAYS) {
        const multipartThresholdBytes = way === 'whole' ? WHOLE_UP_TO_BYTES : config.multipartThresholdBytes
        const copy = {
          config: { ...config, multipartThresholdBytes },
          sourceKey: SOURCE_KEY,
          targetKey: `documents/ws_bench/file_1/${way}${round}`,
        }
        const worker = await startWorker<StreamedMethods>('workers/streamed.ts', { args: [s3Endpoint] })
        costs[way].push(await worker.call(way === 'streamed' ? 'streamed' : 'serverSide', copy))
        await worker.call('remove', copy)
        await worker.stop()
      }
    }
    await standIns.call('removeFiles', undefined)
    await standIns.stop()

    const medians = (way: Way): CopyCost => ({
      seconds: median(costs[way].map(({ seconds }) => seconds)),
      cpuSeconds: median(costs[way].map(({ cpuSeconds }) => cpuSeconds)),
      peakBytes: median(costs[way].map(({ peakBytes }) => peakBytes)),
    })
    const [own, whole, other] = [medians('inParts'), medians('whole'), medians('streamed')]
    return {
      rows: [
        ahead('time', other.seconds, own.seconds, asSeconds),
        ahead('CPU time', other.cpuSeconds, own.cpuSeconds, asSeconds),
        ahead('peak memory', other.peakBytes, own.peakBytes, asMib),
        shown(
          'ahead in time, were it one CopyObject',
          `${(other.seconds / whole.seconds).toFixed(1)} × (${asSeconds(whole.seconds)})`,
        ),
      ],
      figures: { sizeMib, inParts: own, whole, streamed: other },
    }
  },
}

function ahead(what: string, other: number, own: number, format: (value: number) => string): Row {
  const measured = `${(other / own).toFixed(1)} × (${format(own)} and ${format(other)})`
  return { what: `ahead of streaming in ${what}`, bar: '> 1 ×', measured, isMet: other > own }
}
