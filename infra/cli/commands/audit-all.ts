import pMap from 'p-map'
import type { AuditDependencies, AuditOptions } from '../../../lib/audit/audit-context.ts'
import { type AuditShard, newShards, sumOf } from '../../../lib/audit/audit-shard.ts'
import { auditShard, skipWorkspace } from '../../../lib/audit/audit-slice.ts'
import { createReadPace, paceReads } from '../../../lib/aws/read-pace.ts'
import { READS_PER_SECOND_OF_SHARD } from '../../../lib/config.ts'
import { ServiceError } from '../../../lib/errors.ts'
import type { Session } from '../session.ts'

const SHARDS_AT_ONCE = 8

type Audit = { options: AuditOptions; deps: AuditDependencies; signal: AbortSignal }

export async function auditAll(options: AuditOptions, session: Pick<Session, 'output' | 'signal' | 'stores'>) {
  const { output, signal, stores } = session
  const deps = await stores()
  const { auditShards: totalShards } = deps.config
  paceReads(deps, createReadPace({ unitsPerSecond: READS_PER_SECOND_OF_SHARD * totalShards }))
  const shards = newShards({ roundId: 'command', startedAtMs: deps.now(), totalShards })
  const failed = new AbortController()
  const stopped = AbortSignal.any([signal, failed.signal])
  const audit = async (begun: AuditShard) => {
    for await (const shard of auditPastFailures(begun, { options, deps, signal: stopped })) {
      shards[shard.shard] = shard
      output.progress(`audited ${sumOf(shards).workspaces.toLocaleString('en')} workspaces`)
    }
  }
  // A failure stops the other shards, too.
  const stop = (error: unknown) => failed.abort(error)
  await pMap(shards, (shard) => audit(shard).catch(stop), { concurrency: SHARDS_AT_ONCE })
  stopped.throwIfAborted()
  return sumOf(shards)
}

/** Audits a shard to its end, past workspaces that fail. @yields how far it has come */
async function* auditPastFailures(begun: AuditShard, { options, deps, signal }: Audit): AsyncGenerator<AuditShard> {
  let shard = begun
  while (!shard.isComplete) {
    try {
      for await (shard of auditShard(shard, options, deps, signal)) yield shard
    } catch (error) {
      signal.throwIfAborted()
      if (isOfStores(error)) throw error
      shard = await skipWorkspace(shard, String(error), options, deps, signal)
      yield shard
    }
  }
}

/** Whether the stores themselves failed: what they refuse for one workspace, they refuse for all. */
function isOfStores(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error instanceof ServiceError || '$metadata' in error || error.name === 'CredentialsProviderError'
}
