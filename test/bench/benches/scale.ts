import { readServiceDefinition, type ServiceDefinition } from '../../../infra/local/service-definition.ts'
import { readConfig } from '../../../lib/config.ts'
import type { Bench, BenchContext } from '../bench.ts'
import { lambdaEnvironment, ROOT } from '../bundles.ts'
import { auditRows, type Rounds } from '../scale/audit-rows.ts'
import { type CostInRuns, type Idle, idleRows, lateRow, overdueRows } from '../scale/resolver-rows.ts'
import type { Lateness, Load } from '../scale/sustained.ts'
import { asCount } from '../scale/words.ts'
import { startWorker, type Worker } from '../worker.ts'
import type { ScaleSimulatorMethods } from '../workers/scale-simulator.ts'

const WORKSPACES = [1e3, 1e4, 1e5, 1e6]
const MOST_WORKSPACES = 1e6
const AUDIT_MEMORY_MIB = 512
const SLICE_MS = 240_000

interface Sizes {
  /** The most workspaces that are read one by one, for comparison. */
  scanned: number
  overdue: number
  load: Load
  /** Workspaces and documents of each. */
  small: { workspaces: number; documents: number }
  large: { workspaces: number; documents: number }
  killed: { workspaces: number; documents: number; findings: number; sliceMs: number; killedShare: number }
}

const FULL: Sizes = {
  scanned: 1e6,
  overdue: 10_000,
  load: { perSecond: 1000, busyWorkspaces: 10_000, killedShare: 0.01, killedRunsShare: 0, seconds: 150 },
  small: { workspaces: 3000, documents: 3 },
  large: { workspaces: 16, documents: 20_000 },
  killed: { workspaces: 3000, documents: 3, findings: 1000, sliceMs: 1000, killedShare: 0.2 },
}
/** Enough to show that it works. */
const QUICK: Sizes = {
  scanned: 1e4,
  overdue: 100,
  load: { ...FULL.load, perSecond: 10, busyWorkspaces: 200, seconds: 130 },
  small: { workspaces: 100, documents: 3 },
  large: { workspaces: 8, documents: 1000 },
  killed: { workspaces: 100, documents: 3, findings: 40, sliceMs: 200, killedShare: 0.2 },
}
const withKilledRuns = (load: Load): Load => ({
  ...load,
  perSecond: load.perSecond / 10,
  busyWorkspaces: load.busyWorkspaces / 10,
  killedShare: load.killedShare * 10,
  killedRunsShare: 0.1,
})
/** A simulation of minutes takes minutes. */
const CALL_LIMIT_MS = 3_600_000

type Simulator = Worker<ScaleSimulatorMethods>

interface Found {
  idle: Record<number, Idle>
  overdue: { now: CostInRuns; before: CostInRuns }
  sustained: Lateness
  /** A tenth of the load, and of the resolver's runs killed. */
  ownKilled: Lateness
  rounds: Rounds
}

/**
 * Resolver and audit as they ship, with their adapters and the SDK's clients, in as many processes as the template starts, on
 * a virtual clock: on stores that answer and charge as DynamoDB and S3 do, and hold what is computed from its number.
 */
export const scale: Bench = {
  name: 'scale',
  title: 'Any number of workspaces and documents: resolver and audit',
  isExact: true,
  async run(context) {
    const definition = await readServiceDefinition(ROOT, 'local')
    // The local stage audits with one shard; a deployed one has the defaults.
    const { AUDIT_SHARDS: _, ...environment } = definition.environment
    const env = { ...lambdaEnvironment('http://unused'), ...environment }
    const simulator = await startWorker<ScaleSimulatorMethods>('workers/scale-simulator.ts', {
      env,
      callLimitMs: CALL_LIMIT_MS,
    })
    const sizes = context.isQuick ? QUICK : FULL
    const found = await simulate(simulator, definition, sizes, context)
    await simulator.stop()
    const settings = { ...readConfig(env).audit, memoryMib: AUDIT_MEMORY_MIB }
    return {
      rows: [
        ...idleRows(found.idle),
        ...overdueRows(sizes.overdue, found.overdue),
        lateRow(sizes.load, found.sustained),
        lateRow(withKilledRuns(sizes.load), found.ownKilled),
        ...auditRows(found.rounds, sizes.killed.findings, WORKSPACES, settings),
      ],
      figures: { ...found },
    }
  },
}

async function simulate(
  simulator: Simulator,
  definition: ServiceDefinition,
  { overdue, load, ...sizes }: Sizes,
  { progress }: BenchContext,
): Promise<Found> {
  const idle: Found['idle'] = {}
  for (const workspaces of WORKSPACES) {
    progress(`nothing overdue in ${asCount(workspaces)} workspaces`)
    const of = { workspaces, definition }
    idle[workspaces] = {
      now: await simulator.call('idle', { ...of, how: 'now' }),
      before: await simulator.call('idle', { ...of, how: 'before' }),
      ...(workspaces <= sizes.scanned && { scan: await simulator.call('scanAll', of) }),
    }
  }
  const of = { workspaces: MOST_WORKSPACES, definition }
  progress(`${asCount(overdue)} overdue`)
  const now = await simulator.call('overdue', { ...of, count: overdue, how: 'now' })
  progress(`${asCount(overdue / 10)} overdue, as before`)
  const before = await simulator.call('overdue', { ...of, count: overdue / 10, how: 'before' })
  progress(`${load.perSecond} promotions a second`)
  const sustained = await simulator.call('sustain', { ...of, load })
  progress('runs that are killed')
  const ownKilled = await simulator.call('sustain', { ...of, load: withKilledRuns(load) })
  const round = (name: string, size: Partial<Sizes['killed']> & Sizes['small']) => {
    progress(`a round of the audit, ${name}`)
    const rest = { findings: 0, sliceMs: SLICE_MS, killedShare: 0, memoryMib: AUDIT_MEMORY_MIB }
    return simulator.call('round', { ...rest, ...size, definition })
  }
  const small = await round('small', sizes.small)
  const large = await round('large', sizes.large)
  const killed = await round('killed', sizes.killed)
  return { idle, overdue: { now, before }, sustained, ownKilled, rounds: { small, large, killed } }
}
