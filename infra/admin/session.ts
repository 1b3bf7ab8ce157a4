import type { Environment } from '../../lib/config.ts'
import type { Stores, Target } from './connect.ts'
import type { Output } from './output.ts'
import type { Terminal } from './terminal.ts'

/** 0: done, nothing is wrong; 1: something is. */
export type ExitCode = 0 | 1

/** What a command works with. */
export interface Session {
  output: Output
  terminal: Terminal
  /** The deployment's name in the question before something is deleted there. */
  place: string
  target: Target
  /** Aborts when the user wants to stop. */
  signal: AbortSignal
  environment(): Promise<Environment>
  stores(): Promise<Stores>
}

/** Runs a command; its exit code becomes the process's. */
export type Run = (work: (session: Session) => Promise<ExitCode>) => Promise<void>

export function createSession(given: Pick<Session, 'target' | 'output' | 'terminal' | 'signal'>): Session {
  const { target, signal } = given
  // Loaded late: help and usage errors need no SDK.
  const connecting = () => import('./connect.ts')
  const environment = async () => (await connecting()).environmentOf(target, signal)
  return {
    ...given,
    place: target.local
      ? 'the local service'
      : target.stage === undefined
        ? 'this environment'
        : `stage ${target.stage}`,
    environment,
    stores: async () => (await connecting()).connect(await environment()),
  }
}
