import type { WorkspaceId } from '../ids.ts'
import { type AuditContext, type AuditDependencies, type AuditOptions, reportFinding } from './audit-context.ts'
import { type AuditShard, enterNextPhase } from './audit-shard.ts'
import { auditWorkspace } from './audit-workspace.ts'
import { isOfEarlierPhase, listedWorkspaces } from './listed-workspaces.ts'

export interface SliceOptions extends AuditOptions {
  /** Whether the slice is to end. Asked after each step, so each slice takes at least one. */
  isTimeUp(): boolean
}

/** Slices this long need no limit. */
const MANY_WORKSPACES = 1000

/**
 * Continues a shard for a while. Repeating a slice whose process was killed does no harm. One that fails after its first
 * step, or is aborted, ends before what failed; the next one begins with that. @throws what failed in the first step
 */
export async function auditSlice(
  before: AuditShard,
  options: SliceOptions,
  deps: AuditDependencies,
  signal: AbortSignal,
): Promise<AuditShard> {
  let workspacesLeft = before.maxWorkspaces ?? Number.POSITIVE_INFINITY
  let shard = before
  try {
    for await (const step of auditShard(before, options, deps, signal)) {
      shard = step
      if (shard.workspace === undefined) workspacesLeft--
      if (workspacesLeft === 0 || options.isTimeUp()) break
    }
  } catch (error) {
    if (shard === before) throw error
    deps.log.warn('audit slice ended early, the next one continues', { shard: shard.shard, error })
    return shard
  }
  return withLongerSlices(shard)
}

/** After a failure, slices grow again, so that few of them are needed to reach what fails, however far off it is. */
export function withLongerSlices({ maxWorkspaces = MANY_WORKSPACES, ...shard }: AuditShard): AuditShard {
  const doubled = maxWorkspaces * 2
  return doubled < MANY_WORKSPACES ? { ...shard, maxWorkspaces: doubled } : shard
}

/** Continues a shard to its end. @yields how far it has come, after each step: an item or object compared, a workspace or a phase done */
export async function* auditShard(
  before: AuditShard,
  options: AuditOptions,
  deps: AuditDependencies,
  signal: AbortSignal,
): AsyncGenerator<AuditShard> {
  const context: AuditContext = { options, counters: { ...before.counters }, deps, signal }
  let shard = before
  while (!shard.isComplete) {
    for await (const step of goThroughPhase(shard, context)) {
      shard = step
      yield step
    }
    shard = enterNextPhase(shard)
    yield shard
  }
}

/** From where the shard is to the end of its phase. */
async function* goThroughPhase(before: AuditShard, context: AuditContext): AsyncGenerator<AuditShard> {
  const { workspace: from, ...shard } = before
  if (from) yield* goThrough(from.workspaceId, before, context)
  const rest = from ? { ...shard, after: from.workspaceId } : shard
  for await (const workspaceId of listedWorkspaces(rest, context)) yield* goThrough(workspaceId, rest, context)
}

async function* goThrough(workspaceId: WorkspaceId, { workspace: from, ...shard }: AuditShard, context: AuditContext) {
  const { counters } = context
  if (from || !(await isOfEarlierPhase(workspaceId, shard, context))) {
    const positions = auditWorkspace(workspaceId, from, context)
    for await (const workspace of positions) yield { ...shard, workspace, counters: { ...counters } }
  }
  yield { ...shard, after: workspaceId, counters: { ...counters } }
}

/** Goes past the workspace at which a shard keeps failing, and reports it. @param message why it was not audited */
export async function skipWorkspace(
  { workspace, ...before }: AuditShard,
  message: string,
  options: AuditOptions,
  deps: AuditDependencies,
  signal: AbortSignal,
): Promise<AuditShard> {
  const shard = { ...before, maxWorkspaces: 1 }
  const listed = workspace ? [workspace.workspaceId] : listedWorkspaces(shard, { deps, signal })
  for await (const workspaceId of listed) {
    const counters = { ...shard.counters }
    await reportFinding({ workspaceId, kind: 'not_audited', message }, { options, counters })
    return { ...shard, after: workspaceId, counters }
  }
  return enterNextPhase(shard)
}
