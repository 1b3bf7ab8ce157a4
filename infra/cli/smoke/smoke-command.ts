import type { Command } from 'commander'
import type { Run } from '../session.ts'
import type { SmokeOptions } from './run-smoke.ts'

export function addSmokeCommand(program: Command, run: Run): void {
  program
    .command('smoke')
    .description('promote, compare, refuse, repeat, delete over HTTPS, in a workspace of its own that is removed again')
    .option('--base-url <url>', "another address than the stack's, ending in the version (https://…/v1)")
    .option('--no-telemetry', 'do not wait for log lines and metrics, which take minutes')
    .addHelpText('after', '\nFor after a deployment. Ends with 1 for a problem, or when something was left behind.')
    .action(run(async (session, options: SmokeOptions) => (await import('./run-smoke.ts')).runSmoke(session, options)))
}
