import type { Environment } from '../../lib/config.ts'
import { CommandError } from './command-error.ts'
import type { Stores, Target } from './connect.ts'
import type { Output } from './output.ts'

/** 0: done, nothing is wrong; 1: something is. */
export type ExitCode = 0 | 1

/** What a command works with. */
export interface Session {
  output: Output
  /** Of the deployment, in a question before something is deleted there. */
  place: string
  target: Target
  /** Aborts when the user wants to stop. */
  signal: AbortSignal
  environment(): Promise<Environment>
  stores(): Promise<Stores>
}

/** Runs a command; its exit code becomes the process's. */
export type Run = (work: (session: Session) => Promise<ExitCode>) => Promise<void>

export function createSession(target: Target, output: Output): Session {
  const stopped = new AbortController()
  // Once only: a second Ctrl-C ends the process at once, and the resolver finishes what it had begun.
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => stopped.abort(new CommandError('stopped', `Stopped by ${name}.`, { exitCode: 2 })))
  }
  const { signal } = stopped
  // Loaded late: help and usage errors need no SDK.
  const connecting = () => import('./connect.ts')
  const environment = async () => (await connecting()).environmentOf(target, signal)
  return {
    output,
    place: target.local
      ? 'the local service'
      : target.stage === undefined
        ? 'this environment'
        : `stage ${target.stage}`,
    target,
    signal,
    environment,
    stores: async () => (await connecting()).connect(await environment()),
  }
}
