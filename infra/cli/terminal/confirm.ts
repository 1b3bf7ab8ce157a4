import { createInterface } from 'node:readline/promises'
import { CommandError } from '../command-error.ts'
import type { Session } from '../session.ts'

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
