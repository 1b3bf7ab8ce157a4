import pMap from 'p-map'
import type { WorkspaceId } from '../ids.ts'
import type { Log } from '../logging.ts'
import { type ErasureDependencies, eraseWorkspace } from './erase-workspace.ts'

/** One with millions of files does not hold up the others. */
const AT_ONCE = { concurrency: 3 }
const DAY_MS = 86_400_000

export interface ErasureReport {
  advanced: number
  /** Those that failed, ran out of time, have taken more than a day, or of which S3 refuses something: each is tried again. */
  failed: number
}

/** Goes on with all erasures that are due. What is left when the signal aborts, a later run goes on with. */
export async function eraseDueWorkspaces(deps: ErasureDependencies & { log: Log }, signal: AbortSignal) {
  const { erasures, log, now } = deps
  const report: ErasureReport = { advanced: 0, failed: 0 }
  const goOn = async (workspaceId: WorkspaceId) => {
    const fields = { workspace_id: workspaceId }
    try {
      const erasure = await eraseWorkspace(workspaceId, deps, signal)
      if (erasure === undefined) return
      const { state, refused, reason, beginsAtMs } = erasure
      if (refused || (state !== 'erased' && now() - beginsAtMs > DAY_MS)) report.failed++
      else report.advanced++
      log.info('erasure went on', { ...fields, state, refused, reason })
    } catch (error) {
      report.failed++
      log.error('erasure left to a later run', { ...fields, error })
    }
  }
  await pMap(erasures.listDue(now(), signal), goOn, AT_ONCE)
  return report
}
