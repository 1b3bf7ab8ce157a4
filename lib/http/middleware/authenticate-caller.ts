import { authenticate, requirePermission } from '../../auth/authenticate.ts'
import type { ApiKeyStore } from '../../auth/caller.ts'
import { ServiceError } from '../../errors.ts'
import { entryOf, type OperationName } from '../operations.ts'
import { headerValues } from '../request-headers.ts'
import type { ApiEvent, ApiMiddleware } from '../request-state.ts'

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
    const workspaceId = caller.workspaceId ?? event.pathParameters?.workspace_id
    state.log = state.log.with({ key_id: caller.keyId, workspace_id: workspaceId })
  }
  return { before }
}

export function authorizeCaller(nameOf: (event: ApiEvent) => OperationName | undefined): ApiMiddleware {
  const before: ApiMiddleware['before'] = ({ event }) => {
    const { caller } = event.state
    const name = nameOf(event)
    if (caller === undefined) throw new Error('authorization needs an authenticated caller')
    if (name === undefined) throw new Error(`no operation is served at ${event.httpMethod} ${event.resource}`)
    const { for: whom } = entryOf(name)
    if (whom === 'platform' && caller.kind !== 'platform') throw new ServiceError('platform_key_required')
    if (whom !== 'platform' && whom !== 'any') requirePermission(caller, whom)
  }
  return { before }
}
