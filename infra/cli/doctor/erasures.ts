import pMap from 'p-map'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { erasureInWords } from '../commands/erase-workspace.ts'
import type { Session } from '../session.ts'
import { time } from '../terminal/output.ts'
import { type Check, problem, setupCheck } from './check.ts'

/** A run takes a quarter of an hour at most, and what it leaves is due at once. */
const LATE_MS = 60 * 60 * 1000
const DAY_MS = 24 * LATE_MS
const AT_ONCE = { concurrency: 16 }

/** What goes on, and why it does not: each has a time for its next step, which a run moves on. */
export function erasuresCheck(stores: Session['stores']): Check {
  return setupCheck('erasures', 'dynamodb:Query, dynamodb:GetItem', async (signal) => {
    const { erasures, ledger, now } = await stores()
    const explain = async (workspaceId: WorkspaceId) => {
      const { erasure } = (await ledger.read(workspaceId, signal)) ?? {}
      const { state, refused, beginsAtMs = 0, dueAtMs = Number.POSITIVE_INFINITY } = erasure ?? {}
      const takesLong = /^(erasing|verifying)$/.test(`${state}`) && beginsAtMs < now() - DAY_MS
      if (erasure && (refused || takesLong)) return `${workspaceId}: ${erasureInWords(erasure)}`
      return dueAtMs < now() - LATE_MS ? `${workspaceId}: due since ${time(dueAtMs)}, and nobody works on it` : ''
    }
    const listed = await pMap(erasures.listDue(Number.MAX_SAFE_INTEGER, signal), explain, AT_ONCE)
    const found = listed.filter(Boolean)
    if (found.length > 0) return problem(`${found.join('; ')} (docs/runbook.md, "Erasures late")`)
    return listed.length === 0 ? 'none' : `${listed.length} go on`
  })
}
