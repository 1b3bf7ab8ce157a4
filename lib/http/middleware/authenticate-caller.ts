import { authenticate } from '../../auth/authenticate.ts'
import type { ApiKeyStore } from '../../auth/caller.ts'
import type { ApiMiddleware } from '../exchange.ts'
import { headerValues } from '../request-headers.ts'

/** By which other services, and the first vendor's library, take their keys. */
const OTHER_KEY_HEADERS = ['x-api-key', 'api-key']

/** Puts the caller behind the bearer key into the exchange, or ends the request with 401 (interface.md §5). */
export function authenticateCaller(deps: { apiKeys: ApiKeyStore; now(): number }): ApiMiddleware {
  const before: ApiMiddleware['before'] = async ({ event }) => {
    const { exchange } = event
    const credentials = {
      authorization: headerValues(event, 'authorization'),
      hasOtherKeyHeader: OTHER_KEY_HEADERS.some((name) => headerValues(event, name).length > 0),
    }
    const caller = await exchange.journal.time('authenticate', () =>
      authenticate(credentials, deps, exchange.deadline.signal),
    )
    exchange.caller = caller
    exchange.log = exchange.log.with({ key_id: caller.keyId, workspace_id: caller.workspaceId })
  }
  return { before }
}
