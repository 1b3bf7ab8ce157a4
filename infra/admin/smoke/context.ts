import type { DocumentId } from '../../../lib/ids.ts'
import type { TrialFile, TrialWorkspace } from './trial.ts'

/** What the checks share: a workspace of their own, and where to reach the service. */
export interface SmokeContext extends TrialWorkspace {
  /** Ends in the version, as base_url does everywhere. */
  baseUrl: string
  files: { small: TrialFile; oddlyNamed: TrialFile; large: TrialFile }
  /** Of the only key. */
  token: string
  /** Documents that the service answered with, by their source file. */
  documents: Map<DocumentId, TrialFile>
  /** Ids of requests that were answered 200. */
  requestIds: string[]
}

/** A check that found something wrong. */
export class SmokeProblem extends Error {}
/** A check that cannot run here; the message says why. */
export class NotChecked extends Error {}
