import type { Command } from 'commander'
import { later, type Run } from '../session.ts'

export function addSmokeCommand(program: Command, run: Run): void {
  program
    .command('smoke')
    .description('test a deployment over HTTPS, in a workspace of its own that it removes again')
    .option('--base-url <url>', "an address other than the stack's, ending in the version (https://…/v1)")
    .option('--no-expiry', 'do not wait for the resolver to delete a document that has expired, two minutes at most')
    .option('--no-telemetry', 'do not wait for log lines and metrics, which take minutes')
    .addHelpText('after', '\nRun it after a deployment. Exits with 1 on a problem, or if something is left behind.')
    .action(run(later(async () => (await import('./run-smoke.ts')).runSmoke)))
}
