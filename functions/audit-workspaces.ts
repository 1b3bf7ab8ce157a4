import type { Context } from 'aws-lambda'
import { type AuditTask, performAuditTask, type RoundDependencies } from '../lib/audit/audit-round.ts'
import type { SliceOptions } from '../lib/audit/audit-slice.ts'
import { type Finding, findingId } from '../lib/audit/findings.ts'
import { createReadPace, paceReads } from '../lib/aws/read-pace.ts'
import { READS_PER_SECOND_OF_SHARD } from '../lib/config.ts'
import { createDeadline } from '../lib/deadline.ts'
import { ServiceError } from '../lib/errors.ts'
import { wireMaintenance } from './wiring/wire-maintenance.ts'

/** The most work that is lost when the process is killed. */
const SLICE_MS = 4 * 60 * 1000

const { stores, dependencies, metrics } = wireMaintenance('audit-workspaces')
const { log } = dependencies
const { auditRoundHours, auditShards } = stores.config
const pace = createReadPace({ unitsPerSecond: READS_PER_SECOND_OF_SHARD })
paceReads(stores, pace)
const deps: RoundDependencies = {
  ...dependencies,
  metrics,
  totalShards: auditShards,
  roundMs: auditRoundHours * 60 * 60 * 1000,
  spentUnits: () => pace.spentUnits,
}

/** Invoked by the tasks of the state machine audit-round. Repairs nothing: its role can only read. */
export async function handler(event: AuditTask, context: Context) {
  const { signal } = createDeadline(() => context.getRemainingTimeInMillis())
  const endAtMs = performance.now() + SLICE_MS
  const roundId = 'state' in event ? event.state.roundId : undefined
  const options: SliceOptions = {
    repair: false,
    deleteLostDocuments: false,
    isTimeUp: () => performance.now() >= endAtMs,
    onFinding({ kind, workspaceId, ...facts }) {
      const id = findingId({ kind, workspaceId, ...facts } as Finding)
      log.warn('audit finding', { kind, workspace_id: workspaceId, finding: facts, finding_id: id, round_id: roundId })
    },
    onNotAddedUp({ workspaceId, reason }) {
      log.info('workspace not added up', { workspace_id: workspaceId, reason })
    },
  }
  try {
    return await performAuditTask(event, options, deps, signal)
  } catch (error) {
    // The name tells the state machine that waiting may help.
    const isPassing = error instanceof ServiceError && error.status === 503
    throw isPassing ? Object.assign(new Error(error.message, { cause: error }), { name: 'StoresUnavailable' }) : error
  }
}
