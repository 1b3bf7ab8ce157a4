import { deleteWorkspace } from '../../administration/delete-workspace.ts'
import { isLabel, saveWorkspace, type WorkspaceDependencies } from '../../administration/save-workspace.ts'
import type { AnyCaller } from '../../auth/caller.ts'
import { LEAST_EXPIRY_SECONDS, ServiceError } from '../../errors.ts'
import { isWorkspaceId } from '../../ids.ts'
import type { WorkspaceLedger, WorkspaceSettings } from '../../ledger/ports/ledger.ts'
import { answer, describePage } from '../answers.ts'
import type { Operations } from '../api-handler.ts'
import { type Body, readNumber, readRequestsPerMinute, refuseBody } from '../body.ts'
import { queryValue, readLimit, readWorkspaceId } from '../query.ts'
import { describeStorage } from '../shapes.ts'

const MOST_RETENTION_SECONDS = 3650 * 86_400

export function workspaceOperations(deps: WorkspaceDependencies) {
  return {
    async list_workspaces({ event, state: { deadline, log } }) {
      const after = queryValue(event, 'cursor')
      if (after !== undefined && !isWorkspaceId(after)) throw new ServiceError('invalid_cursor')
      const limit = readLimit(event)
      const all = deps.workspaces.readAll(deadline.signal, { after, limit: limit + 1 })
      const idOf = ({ workspaceId }: WorkspaceLedger) => workspaceId
      return answer(await describePage(all, { limit, idOf, describe: describeWorkspace, log }))
    },

    async retrieve_workspace({ event, state: { deadline } }) {
      const ledger = await deps.ledger.read(readWorkspaceId(event), deadline.signal)
      if (ledger === undefined) throw new ServiceError('workspace_not_found')
      return answer(describeWorkspace(ledger))
    },

    async save_workspace({ event, body, state: { deadline }, rateLimitPassed }) {
      const workspaceId = readWorkspaceId(event)
      const to = readSettings(body)
      await rateLimitPassed
      const saved = await saveWorkspace(workspaceId, { to }, deps, deadline.signal)
      return answer({ ...describeWorkspace(saved.ledger), is_new: saved.isNew })
    },

    async delete_workspace({ event, state: { deadline }, rateLimitPassed }) {
      const workspaceId = readWorkspaceId(event)
      await rateLimitPassed
      await deleteWorkspace(workspaceId, deps, deadline.signal)
      return answer({ workspace_id: workspaceId, deleted: true })
    },
  } satisfies Operations<AnyCaller>
}

export function describeWorkspace(ledger: WorkspaceLedger) {
  return {
    workspace_id: ledger.workspaceId,
    ...describeStorage(ledger),
    requests_per_minute: ledger.requestsPerMinute ?? null,
    disabled: ledger.isDisabled ?? false,
    label: ledger.label ?? null,
    erasure: ledger.erasure?.state ?? null,
    created_at: ledger.createdAt.toISOString(),
  }
}

/** Null takes a setting away; a missing one stays. */
function readSettings(body: Body): Partial<WorkspaceSettings> {
  const { disabled, label } = body
  if (disabled !== undefined && typeof disabled !== 'boolean') refuseBody('disabled must be true or false.')
  const quotaBytes = readNumber(body, 'quota_bytes', 0, Number.MAX_SAFE_INTEGER)
  if (body.quota_bytes === null) refuseBody('quota_bytes cannot be null: a workspace always has a quota.')
  const retention = (name: string) => readNumber(body, name, LEAST_EXPIRY_SECONDS, MOST_RETENTION_SECONDS)
  return {
    ...(quotaBytes !== undefined && { quotaBytes }),
    ...('expire_after_seconds' in body && { expireAfterSeconds: retention('expire_after_seconds') }),
    ...('expire_at_most_seconds' in body && { expireAtMostSeconds: retention('expire_at_most_seconds') }),
    ...('requests_per_minute' in body && { requestsPerMinute: readRequestsPerMinute(body) }),
    ...(disabled !== undefined && { isDisabled: disabled || undefined }),
    ...(label !== undefined && { label: readLabel(label) }),
  }
}

function readLabel(label: unknown): string | undefined {
  if (label === null) return undefined
  if (typeof label === 'string' && isLabel(label)) return label
  return refuseBody('label must be 1 to 128 characters, none of them a control character.')
}
