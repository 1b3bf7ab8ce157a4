import type { AnyResponse } from '../api/openapi.ts'
import type { TestProcess } from './test-process.ts'
import type { TestWorkspace } from './workspaces.ts'

/** How long a run has. */
export interface RunLimits {
  /** The limits of a request: until its deadline, and then for the undo. */
  leftMs: number
  undoMs: number
  /** The limit of everything else. */
  boundMs: number
}

/** A run of some part of the service that faults are put into, on a workspace of its own. */
export interface Scenario {
  name: string
  /** Brings a workspace into the state before the run, without faults. */
  prepare(process: TestProcess): Promise<TestWorkspace>
  /** @returns the HTTP answer where there is one */
  run(process: TestProcess, workspace: TestWorkspace, limits: RunLimits): Promise<AnyResponse | undefined>
  /** The answer's, if nothing is broken. Left out: 200. */
  status?: number
  /** Documents there are before the run. */
  documentsBefore: number
  /** They have expired: the run may delete them even if it fails. */
  haveExpired?: true
  /** Calls that another scenario, or another suite, breaks with the same outcome. */
  brokenElsewhere?: RegExp | undefined
  /** Objects there may be after a failed run, which the resolver removes. */
  strayObjects?: number
}
