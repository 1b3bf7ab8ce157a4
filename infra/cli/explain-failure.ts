import { ServiceError } from '../../lib/errors.ts'
import { explainAwsFailure } from '../deploy/explain-aws-failure.ts'
import { CommandError } from './command-error.ts'

export function explainFailure(thrown: unknown): { reason: string; message: string; exitCode: 1 | 2 } {
  // What the logic refuses is said as to callers of the API, but for what a store has caused.
  if (thrown instanceof ServiceError && thrown.cause === undefined) {
    const exitCode = thrown.reason === 'invalid_body' ? 2 : 1
    return { reason: thrown.reason, message: thrown.detail, exitCode }
  }
  const { reason, message } = thrown instanceof CommandError ? thrown : explainAwsFailure(thrown)
  return { reason, message: oneLine(message), exitCode: thrown instanceof CommandError ? thrown.exitCode : 2 }
}

/** Joins the lines: configuration problems come as a list, and no server's answer may break an error into two lines. */
function oneLine(text: string): string {
  return text
    .trim()
    .replace(/:\n- /g, ': ')
    .replace(/\n\(/g, ' (')
    .replace(/\s*\n(- )?\s*/g, '; ')
}
