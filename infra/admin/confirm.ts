import { createInterface } from 'node:readline/promises'
import { CommandError } from './command-error.ts'

/**
 * Asks before something that cannot be undone or is rarely intended.
 * @throws CommandError when the answer is no, or there is nobody to ask
 */
export async function confirm(question: string, isConfirmed: boolean, signal: AbortSignal): Promise<void> {
  if (isConfirmed) return
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CommandError('not_confirmed', `${question} Nobody is there to answer: add --yes to do it.`, {
      exitCode: 2,
    })
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // While it asks, the terminal handles Ctrl-C.
  terminal.once('SIGINT', () => process.emit('SIGINT'))
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal })
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('not_confirmed', 'Nothing was done.')
  } finally {
    terminal.close()
  }
}
