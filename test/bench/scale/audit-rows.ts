import { type Row, shown } from '../bench.ts'
import { PRICES } from '../prices.ts'
import type { Round } from './audit-scenarios.ts'
import { asCount, asDollars, asHours } from './words.ts'

/** What was run: many workspaces with few documents, few with many, and one with findings and kills. */
export interface Rounds {
  small: Round
  large: Round
  killed: Round
}

interface Settings {
  shards: number
  readsPerSecond: number
  memoryMib: number
}

interface Estimate {
  hours: number
  calls: number
  reads: number
  dollars: number
}

const DOCUMENTS_EACH = 1000
const BARS = { hours: 24, functions: 300, dollars: 60 }
/** Of commit 459dfe7, for each workspace and for each document, on one function instance; its 900 s are over long before. */
const BEFORE = {
  // GetItem and Query five times each, a listing of objects and one of uploads, in sequence: as in world.ts, and the processor.
  secondsOfWorkspace: 0.098,
  unitsOfWorkspace: 7,
  listsOfWorkspace: 2,
  // Rows twice, objects once.
  secondsOfDocument: 0.000225,
  passesOfDocuments: 2,
}

/**
 * A round is made of what each workspace costs and of what each document does: both are known from two rounds of different
 * make. Time is what the instances need, and not less than what the configured rate of reads allows.
 */
export function estimateRound({ small, large }: Rounds, workspaces: number, settings: Settings): Estimate {
  const of = (measure: (round: Round) => number) => {
    const [one, other] = [measure(small), measure(large)]
    const determinant = small.workspaces * large.documents - large.workspaces * small.documents
    const ofWorkspace = (one * large.documents - other * small.documents) / determinant
    const ofDocument = (other * small.workspaces - one * large.workspaces) / determinant
    return workspaces * Math.max(0, ofWorkspace) + workspaces * DOCUMENTS_EACH * Math.max(0, ofDocument)
  }
  const { shards, readsPerSecond, memoryMib } = settings
  const readUnits = of((round) => round.readUnits)
  // A thousand objects are one listing, whatever the sample's were.
  const lists = workspaces * Math.ceil(DOCUMENTS_EACH / 1000)
  const instanceSeconds = of((round) => round.gibSeconds) / (memoryMib / 1024)
  const seconds = Math.max(instanceSeconds / shards, (readUnits + lists) / readsPerSecond)
  const gibSeconds = seconds * shards * (memoryMib / 1024)
  return {
    hours: seconds / 3600,
    calls: of((round) => round.dynamoDbCalls) + lists,
    reads: readUnits,
    dollars: readUnits * PRICES.dynamoDbReadUnit + lists * PRICES.s3WriteRequest + gibSeconds * PRICES.lambdaGibSecond,
  }
}

export function estimateBefore(workspaces: number, unitsOfDocument: number): Omit<Estimate, 'calls'> {
  const documents = workspaces * DOCUMENTS_EACH
  const seconds = workspaces * BEFORE.secondsOfWorkspace + documents * BEFORE.secondsOfDocument
  const reads = workspaces * BEFORE.unitsOfWorkspace + documents * BEFORE.passesOfDocuments * unitsOfDocument
  const lists = workspaces * BEFORE.listsOfWorkspace
  return {
    hours: seconds / 3600,
    reads,
    dollars: reads * PRICES.dynamoDbReadUnit + lists * PRICES.s3WriteRequest + seconds * 0.5 * PRICES.lambdaGibSecond,
  }
}

export function auditRows(rounds: Rounds, planted: number, sizes: readonly number[], settings: Settings): Row[] {
  const { small, large, killed } = rounds
  const unitsOfDocument = large.readUnits / large.documents
  const found = Object.values(killed.found).reduce((sum, count) => sum + count, 0)
  const estimates = sizes.map((workspaces) => ({ workspaces, estimate: estimateRound(rounds, workspaces, settings) }))
  const last = estimates.at(-1)?.estimate
  const { hours = Number.NaN, dollars = Number.NaN } = last ?? {}
  return [
    {
      what: `a round of ${asCount(killed.workspaces)} workspaces, ${asCount(killed.killed)} of its ${asCount(killed.tasks)} tasks killed: findings`,
      bar: `the ${asCount(planted)} planted`,
      measured: `${asCount(found)}, ${killed.shardsIncomplete} shards incomplete`,
      isMet: found === planted && killed.shardsIncomplete === 0 && killed.killed > 0,
    },
    shown(
      'rounds that were run for the estimates',
      `${asCount(small.workspaces)} workspaces with ${asCount(small.documents)} documents: ${describeRound(small)}; ` +
        `${asCount(large.workspaces)} with ${asCount(large.documents)}: ${describeRound(large)}`,
    ),
    ...estimates.map(({ workspaces, estimate }) => {
      const before = estimateBefore(workspaces, unitsOfDocument)
      return shown(
        `a round of ${asCount(workspaces)} workspaces with ${asCount(DOCUMENTS_EACH)} documents each, estimated`,
        `${asHours(estimate.hours)}, ${asMillions(estimate.calls)} calls, ${asMillions(estimate.reads)} read units, ` +
          `${asDollars(estimate.dollars)}, ${settings.shards} instances (before, computed: ` +
          `${asHours(before.hours)} on one function of at most 0.25 h, ${asMillions(before.reads)} units, ${asDollars(before.dollars)})`,
      )
    }),
    {
      what: 'a round of a billion documents, estimated',
      bar: `≤ ${BARS.hours} h, ≤ ${BARS.functions} functions, ≤ $${BARS.dollars}`,
      measured: `${asHours(hours)}, ${settings.shards} functions, ${asDollars(dollars)}`,
      isMet: hours <= BARS.hours && settings.shards <= BARS.functions && dollars <= BARS.dollars,
    },
  ]
}

const describeRound = ({ dynamoDbCalls, s3Lists, readUnits, seconds }: Round) =>
  `${asCount(dynamoDbCalls + s3Lists)} calls, ${asCount(Math.round(readUnits))} units, ${asHours(seconds / 3600)}`

const asMillions = (count: number) => `${(count / 1e6).toPrecision(3)} million`
