import { authenticate } from '../../auth/authenticate.ts'
import type { ApiKeyStore } from '../../auth/caller.ts'
import { headerValues } from '../headers.ts'
import type { ApiMiddleware } from '../request-state.ts'

/** Headers in which other services and the first vendor's library send keys. */
const OTHER_KEY_HEADERS = ['X-Api-Key', 'Api-Key'] as const

/** Adds the caller to the state, or ends the request with 401. */
export function authenticateCaller(deps: { apiKeys: ApiKeyStore; now(): number }): ApiMiddleware {
  const before: ApiMiddleware['before'] = async ({ event }) => {
    const { state } = event
    const credentials = {
      authorization: headerValues(event, 'Authorization'),
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
