import { requirePermission } from '../../auth/authenticate.ts'
import type { Permission } from '../../auth/caller.ts'
import type { ApiMiddleware } from '../exchange.ts'

/** Ends the request with 403 when the caller's key lacks the permission of the operation. */
export function authorizeCaller(permission: Permission): ApiMiddleware {
  const before: ApiMiddleware['before'] = ({ event }) => {
    const { caller } = event.exchange
    if (caller === undefined) throw new Error('authorization needs an authenticated caller')
    requirePermission(caller, permission)
  }
  return { before }
}
