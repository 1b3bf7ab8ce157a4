import { candidatesOf } from './audit-candidates.ts'
import { auditUpload } from './audit-leftovers.ts'
import { type AuditShard, enterNextPhase, growSlices } from './audit-shard.ts'
import { type AuditDependencies, type AuditOptions, auditWorkspace } from './audit-workspace.ts'
import { reportFinding } from './report-finding.ts'

export interface SliceOptions extends AuditOptions {
  /** Whether the slice is to end: asked after each step, so that each slice does at least one. */
  isOver(): boolean
}

/**
 * Goes on with a shard for a while. Nothing is kept between slices but the shard: who repeats a slice, because its process was
 * killed, does again what that one did, and nothing else.
 *
 * A slice that has come further before it fails, or before the signal aborts, ends there: the next one begins with what failed.
 * @returns the shard as it is then
 * @throws what failed in the first step
 */
export async function auditSlice(
  before: AuditShard,
  options: SliceOptions,
  deps: AuditDependencies,
  signal: AbortSignal,
): Promise<AuditShard> {
  const shard = structuredClone(before)
  try {
    await advance(shard, options, deps, signal)
    growSlices(shard)
  } catch (error) {
    if (placeOf(shard) === placeOf(before)) throw error
    deps.log.warn('slice of the audit ended early, the next one goes on', { shard: shard.shard, error })
  }
  return shard
}

const placeOf = ({ phase, after, workspace }: AuditShard) =>
  JSON.stringify([phase, after, workspace?.afterDocumentId, workspace?.afterObjectKey, workspace?.isJoined])

/** Changes the shard step by step: at any moment it says what is done. */
export async function advance(
  shard: AuditShard,
  options: SliceOptions,
  deps: AuditDependencies,
  signal: AbortSignal,
): Promise<void> {
  let workspacesLeft = shard.maxWorkspaces ?? Number.POSITIVE_INFINITY
  if (shard.workspace) {
    const { workspaceId } = shard.workspace
    if (!(await auditWorkspace(workspaceId, shard, options, deps, signal))) return
    shard.after = workspaceId
    workspacesLeft--
  }
  while (!shard.isComplete) {
    for await (const { id, workspaceId, uploads, isKnown } of candidatesOf(shard, deps, signal)) {
      if (uploads) for (const upload of uploads) await auditUpload(workspaceId, upload, shard, options, deps, signal)
      else if (!isKnown && !(await auditWorkspace(workspaceId, shard, options, deps, signal))) return
      shard.after = id
      if (--workspacesLeft <= 0 || options.isOver()) return
    }
    enterNextPhase(shard)
  }
}

/**
 * Leaves the workspace out at which a shard fails again and again, and reports it.
 * @param message why it was not audited
 */
export async function passBy(
  before: AuditShard,
  message: string,
  options: AuditOptions,
  deps: AuditDependencies,
  signal: AbortSignal,
): Promise<AuditShard> {
  const shard = structuredClone(before)
  const { workspaceId, id } = shard.workspace
    ? { workspaceId: shard.workspace.workspaceId, id: shard.workspace.workspaceId }
    : await nextOf(shard, deps, signal)
  if (workspaceId === undefined) {
    enterNextPhase(shard)
    return shard
  }
  shard.counters.notAudited++
  await reportFinding({ workspaceId, kind: 'not_audited', message }, { options, report: shard.counters }, undefined)
  shard.after = id
  delete shard.workspace
  shard.maxWorkspaces = 1
  return shard
}
