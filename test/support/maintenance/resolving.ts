import { type ResolverBounds, resolveWorkspace } from '../../../lib/promotion/resolve-workspace.ts'
import { type Ports, WORKSPACE } from '../ports.ts'

const { signal } = new AbortController()
export const BOUNDS = { maxResolutions: 100 }
/** A look at the one workspace of the ports. */
export const resolve = ({ deps }: Ports, bounds: ResolverBounds = BOUNDS) =>
  resolveWorkspace(WORKSPACE, bounds, deps, signal)
/** When it is to be looked at next. */
export const dueAt = ({ ledger }: Ports) => ledger.workspaces.get(WORKSPACE)?.checkDueAtMs
