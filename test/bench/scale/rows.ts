import { asMs, asSeconds, type Row } from '../bench.ts'
import type { Round } from './audit-round.ts'
import { KEPT_MS, RESOLVER } from './deployed.ts'
import type { Erasing } from './erase-all.ts'
import type { Expiry } from './expire-all.ts'
import type { Population } from './population.ts'
import type { Lateness, Load } from './sustained.ts'

/** Many workspaces with few documents, and few with many. */
export interface Rounds {
  small: Round
  large: Round
}

interface Settings {
  shards: number
  readsPerSecond: number
  memoryMib: number
}

const LATE_SECONDS = 120
const EXPIRY_MINUTES = 9
const ERASURE_MINUTES = 60
const ROUND_BARS = { hours: 24, dollars: 60 }
/** us-east-1 in November 2026, as in docs/performance.md. */
const DOLLARS = { readUnit: 0.125e-6, listing: 5e-6, gibSecond: 13.3334e-6 }
const asCount = (count: number) => Math.round(count).toLocaleString('en-US')
const asDollars = (dollars: number) => `$${dollars.toPrecision(2)}`

export function lateRow({ perSecond, killedShare, seconds }: Load, workspaces: number, late: Lateness): Row {
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
export function expiryRow({ workspaces, documentsEach }: Population, expiry: Expiry): Row {
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
export function erasureRow({ workspaces, documentsEach }: Population, erasing: Erasing): Row {
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
export function estimateRow(
  { small, large }: Rounds,
  size: { workspaces: number; documentsEach: number },
  { shards, readsPerSecond, memoryMib }: Settings,
): Row {
  const { workspaces, documentsEach } = size
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
  const seconds = Math.max(instanceSeconds / shards, (readUnits + lists) / readsPerSecond)
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
