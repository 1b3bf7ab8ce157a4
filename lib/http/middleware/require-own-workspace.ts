import { ServiceError } from '../../errors.ts'
import { queryValues } from '../query.ts'
import { headerValues } from '../request-headers.ts'
import type { ApiMiddleware } from '../request-state.ts'

/**
 * Ends the request with 403 when it names a workspace other than its key's. The key alone decides, but a caller who
 * means another workspace must not see or lose files of this one.
 */
export function requireOwnWorkspace(): ApiMiddleware {
  const before: ApiMiddleware['before'] = ({ event }) => {
    const named = [...queryValues(event, 'workspace_id'), ...headerValues(event, 'anthropic-workspace-id')]
    if (named.some((workspaceId) => workspaceId !== event.state.caller?.workspaceId)) {
      throw new ServiceError('workspace_mismatch')
    }
  }
  return { before }
}
