import { remainsOf } from '../../administration/remains.ts'
import {
  type ClosedLedger,
  cancelErasure,
  findErasure,
  type RequestErasureDependencies,
  requestErasure,
} from '../../administration/request-erasure.ts'
import type { AnyCaller } from '../../auth/caller.ts'
import { answer } from '../answers.ts'
import type { Operations } from '../api-handler.ts'
import { readNumber } from '../body.ts'
import { readWorkspaceId } from '../query.ts'

const MOST_AFTER_SECONDS = 30 * 86_400

export type ErasureDependencies = RequestErasureDependencies & { logRetentionDays: number }

export function erasureOperations(deps: ErasureDependencies) {
  return {
    async save_erasure({ event, body, state: { deadline }, rateLimitPassed }) {
      const workspaceId = readWorkspaceId(event)
      const afterSeconds = readNumber(body, 'after_seconds', 0, MOST_AFTER_SECONDS) ?? 0
      await rateLimitPassed
      const closed = await requestErasure(workspaceId, { afterSeconds }, deps, deadline.signal)
      return answer(describeErasure(closed, deps))
    },

    async retrieve_erasure({ event, state: { deadline } }) {
      return answer(describeErasure(await findErasure(readWorkspaceId(event), deps, deadline.signal), deps))
    },

    async cancel_erasure({ event, state: { deadline }, rateLimitPassed }) {
      const workspaceId = readWorkspaceId(event)
      await rateLimitPassed
      await cancelErasure(workspaceId, deps, deadline.signal)
      return answer({ workspace_id: workspaceId, cancelled: true })
    },
  } satisfies Operations<AnyCaller>
}

export function describeErasure({ erasure, ...ledger }: ClosedLedger, known: { logRetentionDays: number | undefined }) {
  const timeOf = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString())
  return {
    workspace_id: ledger.workspaceId,
    state: erasure.state,
    requested_at: timeOf(erasure.requestedAtMs),
    begins_at: timeOf(erasure.beginsAtMs),
    ended_at: timeOf(erasure.endedAtMs),
    verified_at: timeOf(erasure.verifiedAtMs),
    documents_left: ledger.documents,
    bytes_left: ledger.usedBytes,
    remains: remainsOf(erasure, known).map(({ untilMs, ...each }) => ({ ...each, until: timeOf(untilMs) })),
  }
}
