import { createInterface } from 'node:readline/promises'
import { CommandError } from './command-error.ts'
import type { Target } from './connect.ts'
import type { Output, Terminal } from './terminal/output.ts'

/** 0: done, and nothing is wrong; 1: something is wrong. */
export type ExitCode = 0 | 1

export type Session = ReturnType<typeof createSession>

/** Makes a command's action from its work. The exit code of the work becomes the process's; without one, that is 0. */
export type Run = <Args extends unknown[]>(
  work: (session: Session, ...args: Args) => Promise<ExitCode> | Promise<void>,
) => (...args: Args) => Promise<void>

/** Loads the work of a command when it is to be done: the SDK takes a second. */
export const later =
  <Args extends unknown[], Result>(load: () => Promise<(...args: Args) => Promise<Result>>) =>
  async (...args: Args) =>
    (await load())(...args)

export function createSession(given: { target: Target; output: Output; terminal: Terminal; signal: AbortSignal }) {
  const { target, signal } = given
  const stage = target.stage === undefined ? 'this environment' : `stage ${target.stage}`
  // Help and usage errors need none of this, so it is loaded only by those who ask for it.
  const connecting = () => import('./connect.ts')
  const environment = async () => (await connecting()).environmentOf(target, signal)
  return {
    ...given,
    /** The deployment's name in the question before something is deleted there. */
    place: target.local ? 'the local service' : stage,
    environment,
    stores: async () => (await connecting()).connect(await environment()),
  }
}

/** @throws CommandError when the answer is no, or there is nobody to ask */
export async function confirm(question: string, { target, terminal, signal }: Session): Promise<void> {
  if (target.yes) return
  if (!terminal.stdin.isTTY || !terminal.stderr.isTTY) {
    const message = `${question} There is no terminal to ask at: add --yes to do it.`
    throw new CommandError('not_confirmed', message, { exitCode: 2 })
  }
  const dialogue = createInterface({ input: terminal.stdin, output: terminal.stderr })
  // While it asks, the terminal handles Ctrl-C.
  dialogue.once('SIGINT', () => process.emit('SIGINT'))
  try {
    const answer = await dialogue.question(`${question} [y/N] `, { signal })
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('not_confirmed', 'Nothing was done.')
  } finally {
    dialogue.close()
  }
}
