import { authenticate } from '../../auth/authenticate.ts'
import type { ApiKeyStore } from '../../auth/caller.ts'
import type { ApiMiddleware } from '../exchange.ts'
import { headerValues } from '../request-headers.ts'

/** Puts the caller behind the bearer key into the exchange, or ends the request with 401 (interface.md §5). */
export function authenticateCaller(deps: { apiKeys: ApiKeyStore; now(): number }): ApiMiddleware {
  const before: ApiMiddleware['before'] = async ({ event }) => {
    const { exchange } = event
    const authorization = headerValues(event, 'authorization')
    const caller = await exchange.journal.time('authenticate', () =>
      authenticate(authorization, deps, exchange.deadline.signal),
    )
    exchange.caller = caller
    exchange.log = exchange.log.with({ key_id: caller.keyId, workspace_id: caller.workspaceId })
  }
  return { before }
}
