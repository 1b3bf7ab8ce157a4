import { type ResolverBounds, resolveWorkspace } from '../../../lib/ledger/resolve-workspace.ts'
import { type Ports, WORKSPACE } from '../ports.ts'

const { signal } = new AbortController()
export const boundsOf = ({ clock }: Ports, change: Partial<ResolverBounds> = {}): ResolverBounds => ({
  maxResolutions: 100,
  leaseUntilMs: clock.nowMs + 60_000,
  ...change,
})
/** Resolves the one workspace of the ports. */
export const resolve = (ports: Ports, change: Partial<ResolverBounds> = {}) =>
  resolveWorkspace(WORKSPACE, boundsOf(ports, change), ports.deps, signal)
/** When it is to be looked at next. */
export const dueAt = ({ ledger }: Ports) => ledger.workspaces.get(WORKSPACE)?.checkDueAtMs
