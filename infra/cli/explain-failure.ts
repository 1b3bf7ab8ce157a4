import { CommanderError } from 'commander'
import { explainAwsFailure } from '../deploy/explain-aws-failure.ts'
import { CommandError } from './command-error.ts'

export interface Failure {
  reason: string
  message: string
  exitCode: 1 | 2
}

export function explainFailure(thrown: unknown): Failure {
  const { reason, message } = reasonOf(thrown)
  return { reason, message: oneLine(message), exitCode: thrown instanceof CommandError ? thrown.exitCode : 2 }
}

function reasonOf(thrown: unknown): { reason: string; message: string } {
  if (thrown instanceof CommandError) return thrown
  if (!(thrown instanceof CommanderError)) return explainAwsFailure(thrown)
  return { reason: 'wrong_usage', message: `${thrown.message.replace(/^error: /, '')} (--help tells how)` }
}

/** Joins the lines: configuration problems come as a list, and no server's answer may break an error into two lines. */
function oneLine(text: string): string {
  return text
    .trim()
    .replace(/:\n- /g, ': ')
    .replace(/\n\(/g, ' (')
    .replace(/\s*\n(- )?\s*/g, '; ')
}
