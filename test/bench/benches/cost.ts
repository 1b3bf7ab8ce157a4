import { planParts } from '../../../lib/aws/s3/copy-plan.ts'
import { readConfig } from '../../../lib/config.ts'
import { type Bench, shown } from '../bench.ts'
import { lambdaEnvironment } from '../bundles.ts'
import { ASSUMPTIONS, PRICES } from '../prices.ts'
import { S3_REQUEST_SECONDS, streamSeconds } from '../simulator/model.ts'

const MIB = 1024 ** 2
const SIZES_MIB = [1, 100, 1024, 5120]
const PER_MILLION = 1e6

interface Measured {
  /** Time of a promotion without its copy. */
  otherSeconds: number
  writeUnits: number
  readUnits: number
  /** Requests to S3 beside the copy. */
  lookups: number
}

/**
 * What a million promotions cost, by the formula
 * gateway + Lambda (request, seconds × memory) + DynamoDB (units) + S3 (requests) + log + traces.
 */
export const cost: Bench = {
  name: 'cost',
  title: 'Cost per million promotions',
  async run({ figures }) {
    const measured = readMeasured(figures)
    const beforeCopy = around(measured) + measured.lookups * PRICES.s3ReadRequest
    const bySize = SIZES_MIB.map((sizeMib) => ({ sizeMib, dollars: (beforeCopy + copyOf(sizeMib)) * PER_MILLION }))
    return {
      rows: bySize.map(({ sizeMib, dollars }) => shown(`a million of ${sizeMib} MiB`, `$${dollars.toFixed(2)}`)),
      figures: {
        prices: PRICES,
        assumptions: ASSUMPTIONS,
        measured,
        perMillion: bySize,
      },
    }
  },
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

function copyOf(sizeMib: number): number {
  const plan = planParts(sizeMib * MIB, readConfig(lambdaEnvironment('http://unused')))
  if (plan === undefined) return PRICES.s3WriteRequest + seconds(streamSeconds(sizeMib * MIB))
  // Create, parts and complete follow one another; the parts run at the same time.
  const copySeconds = 2 * S3_REQUEST_SECONDS + streamSeconds(plan.partBytes)
  return (plan.partCount + 2) * PRICES.s3WriteRequest + seconds(copySeconds)
}

/** The figures of the benches before this one in the same run. */
function readMeasured(figures: ReadonlyMap<string, Record<string, unknown>>): Measured {
  const get = <Value>(bench: string) => {
    const found = figures.get(bench)
    if (found === undefined)
      throw new Error(`the cost needs the figures of ${bench}: run npm run bench -- ${bench} cost`)
    return found as Value
  }
  const { meanMs } = get<{ meanMs: number }>('latency')
  const { writeUnits, names } = get<{ writeUnits: number; names: string[] }>('calls')
  return {
    otherSeconds: meanMs / 1000 - streamSeconds(MIB),
    writeUnits,
    readUnits: names.filter((name) => name === 'keys.find').length,
    lookups: names.filter((name) => name === 'HeadObject').length,
  }
}
