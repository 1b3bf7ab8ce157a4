import { type ResolverBounds, resolveWorkspace } from '../../../lib/ledger/resolve-workspace.ts'
import { type Ports, WORKSPACE } from '../ports.ts'

const { signal } = new AbortController()
/** Resolves the one workspace of the ports. */
export const resolve = ({ clock, deps }: Ports, change: Partial<ResolverBounds> = {}) => {
  const bounds = { maxResolutions: 100, leaseUntilMs: clock.nowMs + 60_000, ...change }
  return resolveWorkspace(WORKSPACE, bounds, deps, signal)
}
/** When it is to be looked at next. */
export const dueAt = ({ ledger }: Ports) => ledger.workspaces.get(WORKSPACE)?.checkDueAtMs
