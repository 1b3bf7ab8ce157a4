import { explainAwsFailure } from '../deploy/explain-aws-failure.ts'
import { CommandError } from './command-error.ts'

export function explainFailure(thrown: unknown) {
  const { reason, message } = thrown instanceof CommandError ? thrown : explainAwsFailure(thrown)
  return {
    reason,
    message: oneLine(message),
    exitCode: thrown instanceof CommandError ? thrown.exitCode : (2 as const),
  }
}

/** Joins the lines: configuration problems come as a list, and no server's answer may break an error into two lines. */
function oneLine(text: string): string {
  return text
    .trim()
    .replace(/:\n- /g, ': ')
    .replace(/\n\(/g, ' (')
    .replace(/\s*\n(- )?\s*/g, '; ')
}
