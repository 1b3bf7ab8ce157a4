import { type Candidate, candidatesOf } from './audit-candidates.ts'
import { auditUpload } from './audit-leftovers.ts'
import { type AuditShard, enterNextPhase, growSlices } from './audit-shard.ts'
import { type AuditContext, type AuditDependencies, type AuditOptions, auditWorkspace } from './audit-workspace.ts'
import { reportFinding } from './report-finding.ts'

export interface SliceOptions extends AuditOptions {
  /** Whether the slice is to end. Asked after each step, so each slice takes at least one. */
  isOver(): boolean
}

/**
 * Goes on with a shard for a while. Only the shard is kept between slices: repeating a slice whose process was killed
 * does the same work again, and nothing else. A slice that fails after its first step, or is aborted, ends before what
 * failed; the next one begins with that.
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
    deps.log.warn('audit slice ended early, the next one continues', { shard: shard.shard, error })
  }
  return shard
}

const placeOf = ({ phase, after, workspace }: AuditShard) =>
  JSON.stringify([phase, after, workspace?.afterDocumentId, workspace?.afterObjectKey])

/** Changes the shard step by step: at any moment it says what is done. */
export async function advance(
  shard: AuditShard,
  options: SliceOptions,
  deps: AuditDependencies,
  signal: AbortSignal,
): Promise<void> {
  const context: AuditContext = { options, counters: shard.counters, deps, signal }
  let workspacesLeft = shard.maxWorkspaces ?? Number.POSITIVE_INFINITY
  /** @returns whether the shard may go on */
  const goThrough = async ({ id, workspaceId, uploads, isKnown }: Candidate): Promise<boolean> => {
    if (uploads) for (const upload of uploads) await auditUpload(workspaceId, upload, context)
    else if (!isKnown) await auditWorkspace(workspaceId, shard, options.isOver, context)
    if (shard.workspace) return false
    shard.after = id
    return --workspacesLeft > 0 && !options.isOver()
  }
  if (shard.workspace && !(await goThrough(underWay(shard.workspace)))) return
  while (!shard.isComplete) {
    for await (const candidate of candidatesOf(shard, deps, signal)) if (!(await goThrough(candidate))) return
    enterNextPhase(shard)
  }
}

/** Skips and reports the workspace at which a shard keeps failing. @param message why it was not audited */
export async function passBy(
  before: AuditShard,
  message: string,
  options: AuditOptions,
  deps: AuditDependencies,
  signal: AbortSignal,
): Promise<AuditShard> {
  const shard = structuredClone(before)
  shard.maxWorkspaces = 1
  const candidate = shard.workspace ? underWay(shard.workspace) : await nextOf(shard, deps, signal)
  if (candidate === undefined) {
    enterNextPhase(shard)
    return shard
  }
  const { id, workspaceId } = candidate
  const context = { options, counters: shard.counters }
  await reportFinding({ workspaceId, kind: 'not_audited', message }, context, undefined)
  delete shard.workspace
  shard.after = id
  return shard
}

function underWay({ workspaceId }: Pick<Candidate, 'workspaceId'>): Candidate {
  return { id: workspaceId, workspaceId, isKnown: false }
}

async function nextOf(shard: AuditShard, deps: AuditDependencies, signal: AbortSignal): Promise<Candidate | undefined> {
  for await (const candidate of candidatesOf(shard, deps, signal)) return candidate
  return undefined
}
