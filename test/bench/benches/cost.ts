import { planParts } from '../../../lib/aws/copy-plan.ts'
import { readConfig } from '../../../lib/config.ts'
import { type Bench, shown } from '../bench.ts'
import { lambdaEnvironment } from '../bundles.ts'
import { ASSUMPTIONS, PRICES } from '../prices.ts'
import { S3_REQUEST_SECONDS, streamSeconds } from '../simulator/model.ts'

const MIB = 1024 ** 2
const SIZES_MIB = [0.1, 1, 16, 64, 65, 100, 150, 200, 256, 300, 512, 1024, 1900, 5120]
/** Lambda's time limit here, less what is kept for the undo: a stream cannot move more. */
const LONGEST_STREAM_SECONDS = 25.5
/** Up to this size, requests for parts cost more than the seconds of Lambda they save. */
const THRIFTY_THRESHOLD_MIB = 288
const EVERYWHERE = 'at every size'
const PER_MILLION = 1e6
const asDollars = (perPromotion: number) => `$${(perPromotion * PER_MILLION).toFixed(2)}`

interface Measured {
  /** Of a promotion without its copy. */
  otherSeconds: number
  writeUnits: number
  readUnits: number
  /** Requests to S3 beside the copy. */
  lookups: number
  streamedCpuSecondsPerMib: number
}

/**
 * What a million promotions cost, by the formula
 * gateway + Lambda (request, seconds × memory) + DynamoDB (units) + S3 (requests) + log + traces. The streamed alternative has
 * the same service around it and differs in S3 alone: one GetObject, which is the lookup as well, one PutObject, and the Lambda
 * as long as they last.
 */
export const cost: Bench = {
  name: 'cost',
  title: 'Cost per million promotions',
  async run({ figures }) {
    const measured = readMeasured(figures)
    const beforeCopy = around(measured) + measured.lookups * PRICES.s3ReadRequest
    const bySize = SIZES_MIB.map((sizeMib) => ({
      sizeMib,
      own: beforeCopy + ownCopy(sizeMib),
      thrifty: beforeCopy + ownCopy(sizeMib, THRIFTY_THRESHOLD_MIB * MIB),
      streamed: streamedPrice(sizeMib, measured),
    }))
    const comparable = bySize.flatMap(({ streamed, ...each }) => (streamed === undefined ? [] : { ...each, streamed }))
    const price = (sizeMib: number) => {
      const { own = Number.NaN, streamed } = bySize.find((each) => each.sizeMib === sizeMib) ?? {}
      return `${asDollars(own)}, streamed ${streamed === undefined ? 'impossible in 28 s' : asDollars(streamed)}`
    }
    const below = belowStreamed(comparable)
    const thriftily = belowStreamed(comparable.map(({ thrifty: own, ...each }) => ({ ...each, own })))
    return {
      rows: [
        ...[1, 100, 1024, 5120].map((sizeMib) => shown(`a million of ${sizeMib} MiB`, price(sizeMib))),
        { what: 'below the streamed alternative', bar: EVERYWHERE, measured: below, isMet: below === EVERYWHERE },
        shown(`the same with multipartThresholdBytes of ${THRIFTY_THRESHOLD_MIB} MiB`, thriftily),
      ],
      figures: {
        prices: PRICES,
        assumptions: ASSUMPTIONS,
        measured,
        perMillion: bySize.map(({ sizeMib, own, thrifty, streamed }) => ({
          sizeMib,
          own: own * PER_MILLION,
          thrifty: thrifty * PER_MILLION,
          streamed: streamed === undefined ? null : streamed * PER_MILLION,
        })),
        parts: partsOfMillion(measured),
      },
      plots: [
        {
          file: 'cost-by-size',
          title: 'Cost of a million promotions',
          x: 'MiB',
          y: 'US dollars',
          kind: 'lines',
          logarithmic: 'both',
          series: [
            { name: 'promotion', points: bySize.map(({ sizeMib: x, own }) => ({ x, y: own * PER_MILLION })) },
            {
              name: 'streamed',
              points: comparable.map(({ sizeMib: x, streamed }) => ({ x, y: streamed * PER_MILLION })),
            },
          ],
        },
      ],
    }
  },
}

/** The sizes at which the product is no dearer than streaming, in words. */
function belowStreamed(prices: { sizeMib: number; own: number; streamed: number }[]): string {
  const dearer = prices.filter(({ own, streamed }) => own > streamed)
  if (dearer.length === 0) return EVERYWHERE
  const most = Math.max(...dearer.map(({ own, streamed }) => own - streamed))
  return `but for ${dearer[0]?.sizeMib} to ${dearer.at(-1)?.sizeMib} MiB, up to ${asDollars(most)} more`
}

/** Everything but S3. */
function around({ otherSeconds, writeUnits, readUnits }: Measured): number {
  return (
    PRICES.restApiRequest +
    PRICES.lambdaRequest +
    seconds(otherSeconds) +
    writeUnits * PRICES.dynamoDbWriteUnit +
    readUnits * PRICES.dynamoDbReadUnit +
    ASSUMPTIONS.logBytes * PRICES.logByte +
    ASSUMPTIONS.tracesPerPromotion * PRICES.trace
  )
}

function seconds(duration: number): number {
  return duration * (ASSUMPTIONS.memoryMib / 1024) * PRICES.lambdaGibSecond
}

function ownCopy(sizeMib: number, multipartThresholdBytes?: number): number {
  const config = readConfig(lambdaEnvironment('http://unused'))
  const plan = planParts(sizeMib * MIB, { ...config, ...(multipartThresholdBytes && { multipartThresholdBytes }) })
  if (plan === undefined) return PRICES.s3WriteRequest + seconds(streamSeconds(sizeMib * MIB))
  // Create, the parts, complete: one after the other, and the parts beside each other.
  const copySeconds = 2 * S3_REQUEST_SECONDS + streamSeconds(plan.partBytes)
  return (plan.partCount + 2) * PRICES.s3WriteRequest + seconds(copySeconds)
}

/** undefined: longer than the function may run. */
function streamedPrice(sizeMib: number, measured: Measured): number | undefined {
  const processors = Math.min(1, ASSUMPTIONS.memoryMib / ASSUMPTIONS.memoryMibOfOneProcessor)
  const cpuSeconds = (measured.streamedCpuSecondsPerMib * sizeMib) / processors
  // Two requests, whose bytes flow at the same time; it is as fast as the slower of network and processor.
  const copySeconds = S3_REQUEST_SECONDS + Math.max(streamSeconds(sizeMib * MIB), cpuSeconds)
  if (copySeconds > LONGEST_STREAM_SECONDS) return undefined
  return around(measured) + PRICES.s3ReadRequest + PRICES.s3WriteRequest + seconds(copySeconds)
}

/** What makes up the price of a plain promotion of 1 MiB, in dollars per million. */
function partsOfMillion({ otherSeconds, writeUnits, readUnits, lookups }: Measured): Record<string, number> {
  const parts = {
    gateway: PRICES.restApiRequest,
    lambda: PRICES.lambdaRequest + seconds(otherSeconds + streamSeconds(MIB)),
    dynamoDb: writeUnits * PRICES.dynamoDbWriteUnit + readUnits * PRICES.dynamoDbReadUnit,
    s3: lookups * PRICES.s3ReadRequest + PRICES.s3WriteRequest,
    log: ASSUMPTIONS.logBytes * PRICES.logByte,
    traces: ASSUMPTIONS.tracesPerPromotion * PRICES.trace,
  }
  return Object.fromEntries(Object.entries(parts).map(([name, price]) => [name, price * PER_MILLION]))
}

/** From the benches before this one in the same run. */
function readMeasured(figures: ReadonlyMap<string, Record<string, unknown>>): Measured {
  const get = <Value>(bench: string) => {
    const found = figures.get(bench)
    if (found === undefined)
      throw new Error(`the cost needs the figures of ${bench}: run npm run bench -- ${bench} cost`)
    return found as Value
  }
  const { meanMs } = get<{ meanMs: number }>('latency')
  const { writeUnits, names } = get<{ writeUnits: number; names: string[] }>('calls')
  const { streamed, sizeMib } = get<{ streamed: { cpuSeconds: number }; sizeMib: number }>('streamed')
  return {
    otherSeconds: meanMs / 1000 - streamSeconds(MIB),
    writeUnits,
    readUnits: names.filter((name) => name === 'keys.find').length,
    lookups: names.filter((name) => name === 'HeadObject').length,
    streamedCpuSecondsPerMib: streamed.cpuSeconds / sizeMib,
  }
}
