import { isKeyName, isUserId, PERMISSIONS, type Permission } from '../auth/caller.ts'
import { MOST_REQUESTS_PER_MINUTE } from '../config.ts'
import { isWorkspaceId, type WorkspaceId } from '../ids.ts'
import { HUNDRED_YEARS_MS, parseMoment } from '../moment.ts'
import { type Body, refuseBody } from './known-names.ts'
import { refuseValue } from './query.ts'
import type { ApiEvent } from './request-state.ts'

/** @throws ServiceError invalid_parameter */
export function readWorkspaceId({ pathParameters }: ApiEvent): WorkspaceId {
  const text = pathParameters?.workspace_id ?? ''
  if (isWorkspaceId(text)) return text
  return refuseValue('workspace_id', 'It must be 1 to 128 characters of A-Z, a-z, 0-9, "_" and "-".')
}

/** @throws ServiceError invalid_parameter */
export function readKeyName({ pathParameters }: ApiEvent): string {
  const text = pathParameters?.name ?? ''
  return isKeyName(text) ? text : refuseValue('name', 'It must be 1 to 64 characters of A-Z, a-z, 0-9, "_" and "-".')
}

/** All of these throw ServiceError invalid_body, whose detail names the member. @returns undefined: it was not sent */
export function readNumber(body: Body, name: string, min: number, max: number): number | undefined {
  const value = body[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  return refuseBody(`${name} must be a whole number from ${min} to ${max}.`)
}

export function readRequestsPerMinute(body: Body): number | undefined {
  return readNumber(body, 'requests_per_minute', 1, MOST_REQUESTS_PER_MINUTE)
}

export function readPermissions({ permissions }: Body): Permission[] | undefined {
  if (permissions === undefined) return undefined
  const known: readonly unknown[] = PERMISSIONS
  if (Array.isArray(permissions) && permissions.length > 0 && permissions.every((each) => known.includes(each)))
    return [...new Set<Permission>(permissions)]
  return refuseBody(`permissions must be an array of one or more of ${PERMISSIONS.join(', ')}.`)
}

export function readUserId(body: Body): string | undefined {
  const userId = body.user_id ?? undefined
  if (userId === undefined || (typeof userId === 'string' && isUserId(userId))) return userId
  return refuseBody('user_id must be 1 to 128 visible ASCII characters.')
}

/** When a key ends, in ms since 1970. */
export function readEnd(body: Body, nowMs: number): number | undefined {
  const seconds = readNumber(body, 'expires_in_seconds', 1, HUNDRED_YEARS_MS / 1000)
  const at = body.expires_at ?? undefined
  if (at === undefined) return seconds === undefined ? undefined : nowMs + 1000 * seconds
  if (seconds !== undefined) refuseBody('It may have expires_at or expires_in_seconds, not both.')
  const ms = typeof at === 'string' ? (parseMoment(at) ?? Number.NaN) : Number.NaN
  if (ms > nowMs && ms <= nowMs + HUNDRED_YEARS_MS) return ms
  return refuseBody('expires_at must be a time to come with its time zone, such as 2027-01-31T00:00:00Z.')
}
