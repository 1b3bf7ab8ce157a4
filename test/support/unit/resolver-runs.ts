import { expect } from 'vitest'
import type { WorkspaceId } from '../../../lib/ids.ts'
import {
  type ResolverReport,
  type ResolverRun,
  resolveDueWorkspaces,
} from '../../../lib/ledger/resolve-due-workspaces.ts'
import type { Ports } from '../ports.ts'

const { signal } = new AbortController()
export const BOUNDS = { maxResolutions: 100, timeoutEachMs: 1000 }
/** The report of a run that had nothing to do. */
export const IDLE: ResolverReport = {
  workspaces: 0,
  leftToOthers: 0,
  late: expect.any(Number),
  longestWaitMs: expect.any(Number),
  unlisted: 0,
  ended: 0,
  gaveBack: 0,
  failed: 0,
  unreadable: 0,
  oldestMs: 0,
  isComplete: true,
}
export const nth = (n: number) => `ws_${n}` as WorkspaceId
/** A promotion in the nth workspace that dies after its copy. */
export const dieIn = (ports: Ports, n: number) =>
  ports.run(['take', 'reserve', 'unmark', 'copy'], ports.begin({ workspaceId: nth(n) }))
/** A run of the resolver. */
export const resolve = ({ deps }: Ports, run: ResolverRun = BOUNDS, runSignal = signal) =>
  resolveDueWorkspaces(run, deps, runSignal)
