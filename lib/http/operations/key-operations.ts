import { changeKey, formerTokensEndAtMs, type KeyDependencies } from '../../administration/save-key.ts'
import type { WorkspaceDependencies } from '../../administration/save-workspace.ts'
import { saveWorkspaceKey, type WorkspaceKeyGrant } from '../../administration/save-workspace-key.ts'
import type { ApiKeyChange, ApiKeyRecord } from '../../auth/api-key-administration.ts'
import { isKeyId, keyIdOf, ownerHash, ownerHashIn } from '../../auth/api-token.ts'
import { type AnyCaller, isKeyName, isUserId, PERMISSIONS, type Permission, permissionsOf } from '../../auth/caller.ts'
import { ServiceError } from '../../errors.ts'
import type { WorkspaceId } from '../../ids.ts'
import { HUNDRED_YEARS_MS, parseMoment } from '../../moment.ts'
import { answer, describePage } from '../answers.ts'
import type { Operations } from '../api-handler.ts'
import { type Body, readChoice, readNumber, readRequestsPerMinute, refuseBody } from '../body.ts'
import { queryValue, readLimit, readWorkspaceId, refuseValue } from '../query.ts'
import type { ApiEvent, RequestState } from '../request-state.ts'

const MOST_GRACE_SECONDS = 365 * 86_400

export function keyOperations(deps: KeyDependencies & Pick<WorkspaceDependencies, 'ledger'>) {
  const { apiKeys, ledger, now } = deps
  const find = async (event: ApiEvent, { deadline, telemetry }: RequestState) => {
    const key = await apiKeys.get(keyIdOf(readWorkspaceId(event), readKeyName(event)), deadline.signal)
    if (key === undefined) throw new ServiceError('key_not_found')
    telemetry.annotate({ managed_key_id: key.keyId })
    return key
  }

  return {
    async list_keys({ event, state: { deadline, log } }) {
      const workspaceId = readWorkspaceId(event)
      const after = readCursor(event, workspaceId)
      const limit = readLimit(event)
      const all = apiKeys.list({ workspaceId, after, limit: limit + 1 }, deadline.signal)
      const describe = (key: ApiKeyRecord) => describeKey(key, now())
      const page = await describePage(all, { limit, idOf: ({ keyId }) => keyId, describe, log })
      const isEmpty = page.data.length + page.unreadable.length === 0
      if (isEmpty && (await ledger.read(workspaceId, deadline.signal)) === undefined)
        throw new ServiceError('workspace_not_found')
      return answer(page)
    },

    async retrieve_key_by_name({ event, state }) {
      return answer(describeKey(await find(event, state), now()))
    },

    async save_key({ event, body, state, rateLimitPassed }) {
      const workspaceId = readWorkspaceId(event)
      const name = readKeyName(event)
      const grant = readGrant(workspaceId, body, now())
      const graceMs = 1000 * (readNumber(body, 'grace_seconds', 0, MOST_GRACE_SECONDS) ?? 0)
      await rateLimitPassed
      const { key, token, isNew } = await saveWorkspaceKey({ grant, name, graceMs }, deps, state.deadline.signal)
      state.telemetry.annotate({ managed_key_id: key.keyId })
      return answer({ ...describeKey(key, now()), token, is_new: isNew })
    },

    async change_key({ event, body, state, rateLimitPassed }) {
      const change = readChange(body, now())
      await rateLimitPassed
      const key = await find(event, state)
      return answer(describeKey(await changeKey(key, change, deps, state.deadline.signal), now()))
    },

    async delete_key({ event, state, rateLimitPassed }) {
      await rateLimitPassed
      const { keyId, name, workspaceId } = await find(event, state)
      await apiKeys.remove(keyId, state.deadline.signal)
      return answer({ workspace_id: workspaceId, name, key_id: keyId, deleted: true })
    },
  } satisfies Operations<AnyCaller>
}

function readKeyName({ pathParameters }: ApiEvent): string {
  const text = pathParameters?.name ?? ''
  return isKeyName(text) ? text : refuseValue('name', 'It must be 1 to 64 characters of A-Z, a-z, 0-9, "_" and "-".')
}

function readCursor(event: ApiEvent, workspaceId: WorkspaceId): string | undefined {
  const cursor = queryValue(event, 'cursor')
  if (cursor === undefined) return undefined
  if (isKeyId(cursor) && ownerHashIn(cursor) === ownerHash(workspaceId)) return cursor
  throw new ServiceError('invalid_cursor')
}

export function describeKey(key: ApiKeyRecord, nowMs: number) {
  const { workspaceId, name, keyId, kind, userId, isEnabled, createdAt, requestsPerMinute } = key
  const timeOf = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString())
  return {
    workspace_id: workspaceId,
    name: name ?? null,
    key_id: keyId,
    kind,
    permissions: permissionsOf(key),
    user_id: userId ?? null,
    expires_at: timeOf(key.expiresAtMs),
    disabled: !isEnabled,
    requests_per_minute: requestsPerMinute ?? null,
    created_at: createdAt,
    former_tokens_end_at: timeOf(formerTokensEndAtMs(key, nowMs)),
  }
}

function readGrant(workspaceId: WorkspaceId, body: Body, nowMs: number): WorkspaceKeyGrant {
  const kind = readChoice(body, 'kind', ['standard', 'management'])
  const permissions = readPermissions(body)
  if (kind === 'standard' && permissions === undefined) refuseBody('A standard key needs permissions.')
  const limits = { expiresAtMs: readEnd(body, nowMs), requestsPerMinute: readRequestsPerMinute(body) }
  return { workspaceId, kind, permissions: permissions ?? [], userId: readUserId(body), ...limits }
}

/** Null takes a member away; a missing one stays. */
function readChange(body: Body, nowMs: number): ApiKeyChange {
  const { disabled } = body
  if (disabled !== undefined && typeof disabled !== 'boolean') refuseBody('disabled must be true or false.')
  const permissions = readPermissions(body)
  return {
    ...(disabled !== undefined && { isEnabled: !disabled }),
    ...(permissions !== undefined && { permissions }),
    ...(('expires_at' in body || 'expires_in_seconds' in body) && { expiresAtMs: readEnd(body, nowMs) }),
    ...('requests_per_minute' in body && { requestsPerMinute: readRequestsPerMinute(body) }),
  }
}

function readPermissions({ permissions }: Body): Permission[] | undefined {
  // Null takes them away.
  if (permissions == null) return permissions === null ? [] : undefined
  const known: readonly unknown[] = PERMISSIONS
  if (Array.isArray(permissions) && permissions.length > 0 && permissions.every((each) => known.includes(each)))
    return [...new Set<Permission>(permissions)]
  return refuseBody(`permissions must be an array of one or more of ${PERMISSIONS.join(', ')}.`)
}

function readUserId(body: Body): string | undefined {
  const userId = body.user_id ?? undefined
  if (userId === undefined || (typeof userId === 'string' && isUserId(userId))) return userId
  return refuseBody('user_id must be 1 to 128 visible ASCII characters.')
}

function readEnd(body: Body, nowMs: number): number | undefined {
  const seconds = readNumber(body, 'expires_in_seconds', 1, HUNDRED_YEARS_MS / 1000)
  const at = body.expires_at ?? undefined
  if (at === undefined) return seconds === undefined ? undefined : nowMs + 1000 * seconds
  if (seconds !== undefined) refuseBody('It may have expires_at or expires_in_seconds, not both.')
  const ms = typeof at === 'string' ? (parseMoment(at) ?? Number.NaN) : Number.NaN
  if (ms > nowMs && ms <= nowMs + HUNDRED_YEARS_MS) return ms
  return refuseBody('expires_at must be a time to come with its time zone, such as 2027-01-31T00:00:00Z.')
}
