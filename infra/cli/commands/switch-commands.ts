import type { Command } from 'commander'
import { wrongUsage } from '../command-error.ts'
import type { Run, Session } from '../session.ts'
import { stackNameOf, useRegionOf } from '../target.ts'
import { confirm } from '../terminal/confirm.ts'

export function addSwitchCommands(program: Command, run: Run): void {
  program
    .command('stop')
    .description('stop all requests and scheduled runs of a deployed stage, until it is resumed')
    .option('--yes', 'do not ask', false)
    .addHelpText('after', '\nCallers get a 5xx. What is under way finishes. A deployment does not resume the stage.')
    .action(run((session, { yes }: { yes: boolean }) => switchStage('stop', yes, session)))
  program
    .command('resume')
    .description('undo stop: requests and schedules are as deployed again')
    .action(run((session) => switchStage('resume', true, session)))
}

async function switchStage(way: 'stop' | 'resume', isConfirmed: boolean, session: Session): Promise<void> {
  const { output, signal, target } = session
  if (target.stage === undefined) throw wrongUsage('Say which deployed stage, with --stage <name>.')
  await confirm(`Stop all functions of the stage "${target.stage}"?`, isConfirmed, session)
  const { switchService } = await import('./service-switch.ts')
  await useRegionOf(target)
  for await (const each of switchService(way, stackNameOf(target.stage), signal)) {
    const { name, isRunning, reservedConcurrency } = each
    const reserved = reservedConcurrency === undefined ? '' : `, reserved concurrency ${reservedConcurrency}`
    output.print(`${name}: ${isRunning ? `runs again${reserved}` : 'stopped'}`, each)
  }
}
