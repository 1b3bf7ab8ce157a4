import { readServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import { READS_PER_SECOND_OF_SHARD, readConfig } from '../../../lib/config.ts'
import { asMs, asSeconds, type Bench, type Row } from '../bench.ts'
import { lambdaEnvironment } from '../bundles.ts'
import type { Round } from '../scale/audit-round.ts'
import { AUDIT, KEPT_MS, RESOLVER } from '../scale/deployed.ts'
import type { Erasing } from '../scale/erase-all.ts'
import type { Expiry } from '../scale/expire-all.ts'
import type { Population } from '../scale/population.ts'
import type { Lateness, Load } from '../scale/sustained.ts'
import { SIMULATION_LIMIT_MS } from '../simulator/start.ts'
import { startWorker } from '../worker.ts'
import type { ScaleSimulatorMethods } from '../workers/scale-simulator.ts'

const LATE_SECONDS = 120
const EXPIRY_MINUTES = 9
const ERASURE_MINUTES = 60
const ROUND_BARS = { hours: 24, dollars: 60 }
/** us-east-1 in November 2026, as in docs/performance.md. */
const DOLLARS = { readUnit: 0.125e-6, listing: 5e-6, gibSecond: 13.3334e-6 }
const asCount = (count: number) => Math.round(count).toLocaleString('en-US')
const asDollars = (dollars: number) => `$${dollars.toPrecision(2)}`
const ESTIMATED = { workspaces: 1e6, documentsEach: 1000 }
const FULL = {
  load: { perSecond: 1000, killedShare: 0.01, seconds: 40 },
  busy: { workspaces: 2000, documentsEach: 3 },
  // An eighth of each, as of the shards.
  expiring: {
    load: { perSecond: 125, killedShare: 0.01, seconds: 120, groups: 1 },
    population: { workspaces: 250, documentsEach: 24, expireWithinMs: 60_000 },
  },
  erasing: { workspaces: 4, documentsEach: 10_000 },
  small: { workspaces: 1000, documentsEach: 3 },
  large: { workspaces: 8, documentsEach: 10_000 },
}
/** Just enough to show that it works. */
const QUICK: typeof FULL = {
  load: { perSecond: 10, killedShare: 0.1, seconds: 130 },
  busy: { ...FULL.busy, workspaces: 200 },
  expiring: {
    load: { ...FULL.expiring.load, perSecond: 10, seconds: 60 },
    population: { ...FULL.expiring.population, documentsEach: 4, expireWithinMs: 5000 },
  },
  erasing: { ...FULL.erasing, documentsEach: 1000 },
  small: { ...FULL.small, workspaces: 100 },
  large: { ...FULL.large, documentsEach: 1000 },
}

/**
 * Resolver and audit as they ship, with their adapters and the SDK's clients, in as many processes as the template starts, on
 * a virtual clock and on stores that answer and charge as DynamoDB and S3 do.
 */
export const scale: Bench = {
  name: 'scale',
  title: 'Any number of workspaces and documents: resolver and audit',
  isExact: true,
  async run({ isQuick, progress }) {
    // The local stage audits with one shard; a deployed one has the defaults.
    const { AUDIT_SHARDS: _, ...environment } = readServiceDefinition().environment
    const env = { ...lambdaEnvironment('http://unused'), ...environment }
    const options = { env, callLimitMs: SIMULATION_LIMIT_MS }
    const { load, busy, expiring, erasing, ...audited } = isQuick ? QUICK : FULL
    const worker = await startWorker<ScaleSimulatorMethods>('workers/scale-simulator.ts', options)
    progress('resolver')
    const late = await worker.call('sustain', { load, population: busy })
    progress('expired documents')
    const expiry = await worker.call('expire', expiring)
    progress('erasures')
    const erased = await worker.call('erase', { population: erasing })
    progress('audit')
    const small = await worker.call('round', { population: audited.small })
    const large = await worker.call('round', { population: audited.large })
    await worker.stop()
    return [
      lateRow(load, busy.workspaces, late),
      expiryRow(expiring.population, expiry),
      erasureRow(erasing, erased),
      estimateRow(small, large, readConfig(env).auditShards),
    ]
  },
}

function lateRow({ perSecond, killedShare, seconds }: Load, workspaces: number, late: Lateness): Row {
  const { killed, left, most } = late
  const load = `${asCount(perSecond)} promotions a second for ${seconds} s in ${asCount(workspaces)} workspaces`
  return {
    what: `${load}, ${killedShare * 100} % killed: late at most`,
    bar: `≤ ${LATE_SECONDS} s`,
    measured: `${asSeconds(most)} (${asCount(killed)} killed, ${left} left)`,
    isMet: most <= LATE_SECONDS && left === 0 && killed > 0,
  }
}

/** A million documents take as long as the runs of each minute need for their share, after a minute of waiting for the first. */
function expiryRow({ workspaces, documentsEach }: Population, expiry: Expiry): Row {
  const { groups, timeoutMs } = RESOLVER
  const perMinute = expiry.perSecond * ((timeoutMs - KEPT_MS) / 1000)
  const minutes = 1 + 1e6 / groups / perMinute
  const { left, throttled, leftovers } = expiry
  return {
    what: `a million documents expire in a minute, estimated from ${asCount(workspaces * documentsEach)}`,
    bar: `≤ ${EXPIRY_MINUTES} min`,
    measured: `${minutes.toFixed(1)} min (${asCount(expiry.perSecond)} a second and run, ${throttled} throttled, ${left} left)`,
    isMet: minutes <= EXPIRY_MINUTES && left + leftovers.left + throttled === 0 && leftovers.most <= LATE_SECONDS,
  }
}

/** A first look at a million documents; the second one follows twenty minutes later and finds nothing. */
function erasureRow({ workspaces, documentsEach }: Population, erasing: Erasing): Row {
  const { seconds, left, throttled, elsewhereMs } = erasing
  const minutes = (seconds / documentsEach) * (1e6 / 60)
  const { meanwhile, alone } = elsewhereMs
  const elsewhere = `promotions elsewhere ${asMs(meanwhile)}, alone ${asMs(alone)}`
  return {
    what: `a million documents of each of three workspaces erased, estimated from ${asCount((workspaces - 1) * documentsEach)}`,
    bar: `≤ ${ERASURE_MINUTES} min`,
    measured: `${minutes.toFixed(1)} min (${throttled} throttled, ${left} left; p99 of ${elsewhere})`,
    isMet: minutes <= ERASURE_MINUTES && left + throttled === 0 && meanwhile <= 1.25 * alone,
  }
}

/**
 * A round costs so much per workspace and so much per document: both follow from two rounds of different proportions.
 * It lasts as long as the instances need, but no less than the configured rate of reads allows.
 */
function estimateRow(small: Round, large: Round, shards: number): Row {
  const { workspaces, documentsEach } = ESTIMATED
  const { memoryMib } = AUDIT
  const of = (measure: (round: Round) => number) => {
    const [one, other] = [measure(small), measure(large)]
    const determinant = small.workspaces * large.documents - large.workspaces * small.documents
    const ofWorkspace = (one * large.documents - other * small.documents) / determinant
    const ofDocument = (other * small.workspaces - one * large.workspaces) / determinant
    return workspaces * (Math.max(0, ofWorkspace) + documentsEach * Math.max(0, ofDocument))
  }
  const readUnits = of((round) => round.readUnits)
  // A thousand objects are one listing, whatever the sample's were.
  const lists = workspaces * Math.ceil(documentsEach / 1000)
  const instanceSeconds = of((round) => round.gibSeconds) / (memoryMib / 1024)
  const seconds = Math.max(instanceSeconds / shards, (readUnits + lists) / (READS_PER_SECOND_OF_SHARD * shards))
  const gibSeconds = seconds * shards * (memoryMib / 1024)
  const dollars = readUnits * DOLLARS.readUnit + lists * DOLLARS.listing + gibSeconds * DOLLARS.gibSecond
  const hours = seconds / 3600
  return {
    what: `a round of ${asCount(workspaces)} workspaces with ${asCount(documentsEach)} documents each, estimated`,
    bar: `≤ ${ROUND_BARS.hours} h, ≤ $${ROUND_BARS.dollars}`,
    measured: `${hours.toFixed(1)} h, ${shards} functions, ${asDollars(dollars)}`,
    isMet: hours <= ROUND_BARS.hours && dollars <= ROUND_BARS.dollars,
  }
}
