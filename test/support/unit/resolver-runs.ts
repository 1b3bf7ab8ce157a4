import { expect } from 'vitest'
import type { WorkspaceId } from '../../../lib/ids.ts'
import {
  type ResolverReport,
  type ResolverRun,
  resolveExpiredReservations,
} from '../../../lib/ledger/resolve-expired-reservations.ts'
import type { Ports, Step } from '../ports.ts'

const { signal } = new AbortController()
export const BOUNDS = { maxResolutions: 100, timeoutEachMs: 1000 }
/** Of a run that had nothing to do. */
export const IDLE: ResolverReport = {
  workspaces: 0,
  elsewhere: 0,
  overdue: expect.any(Number),
  oldestOverdueMs: expect.any(Number),
  unlisted: 0,
  settled: 0,
  released: 0,
  failed: 0,
  unreadable: 0,
  oldestMs: 0,
  isComplete: true,
}
export const COPIED: readonly Step[] = ['take', 'reserve', 'unmark', 'copy']
export const nth = (n: number) => `ws_${n}` as WorkspaceId
/** A promotion in the nth workspace that dies after these steps. */
export const dieIn = (ports: Ports, n: number, steps: readonly Step[] = COPIED) =>
  ports.run(steps, ports.begin({ workspaceId: nth(n) }))
/** A run of the resolver. */
export const resolve = ({ deps }: Ports, run: ResolverRun = BOUNDS, runSignal = signal) =>
  resolveExpiredReservations(run, deps, runSignal)
