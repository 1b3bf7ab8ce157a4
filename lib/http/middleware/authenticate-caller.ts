import { authenticate, requirePermission } from '../../auth/authenticate.ts'
import type { ApiKeyStore, Permission } from '../../auth/caller.ts'
import { headerValues } from '../request-headers.ts'
import type { ApiMiddleware } from '../request-state.ts'

/** Headers in which other services and the first vendor's library send keys. */
const OTHER_KEY_HEADERS = ['x-api-key', 'api-key']

/** Adds the caller to the state, or ends the request with 401. */
export function authenticateCaller(deps: { apiKeys: ApiKeyStore; now(): number }): ApiMiddleware {
  const before: ApiMiddleware['before'] = async ({ event }) => {
    const { state } = event
    const credentials = {
      authorization: headerValues(event, 'authorization'),
      hasOtherKeyHeader: OTHER_KEY_HEADERS.some((name) => headerValues(event, name).length > 0),
    }
    const caller = await state.telemetry.time('authenticate', () =>
      authenticate(credentials, deps, state.deadline.signal),
    )
    state.caller = caller
    state.log = state.log.with({ key_id: caller.keyId, workspace_id: caller.workspaceId })
  }
  return { before }
}

/** @param operationAt the operation at a resource of the gateway */
export function authorizeCaller(
  operationAt: (resource: string) => { permission: Permission | undefined } | undefined,
): ApiMiddleware {
  const before: ApiMiddleware['before'] = ({ event }) => {
    const { caller } = event.state
    const operation = operationAt(event.resource)
    if (caller === undefined) throw new Error('authorization needs an authenticated caller')
    if (operation === undefined) throw new Error(`no operation is served at ${event.resource}`)
    if (operation.permission !== undefined) requirePermission(caller, operation.permission)
  }
  return { before }
}
