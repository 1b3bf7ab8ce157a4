import type { Command } from 'commander'
import { CommandError } from './command-error.ts'
import { confirm } from './confirm.ts'
import type { Run, Session } from './session.ts'

/** `stop` and `resume`. */
export function addSwitchCommands(program: Command, run: Run): void {
  program
    .command('stop')
    .description('let a deployed stage answer no request and start no scheduled run, until it is resumed')
    .option('--yes', 'do not ask', false)
    .addHelpText(
      'after',
      '\nCallers get a 5xx. What is under way is finished. Deployments do not start the stage again.',
    )
    .action(({ yes }: { yes: boolean }) =>
      run(async (session) => {
        const stage = stageOf(session)
        await confirm(`Stop all functions of the stage "${stage}"?`, yes, session)
        return switchTo('stop', stage, session)
      }),
    )
  program
    .command('resume')
    .description('undo stop: requests and schedules as the stage was deployed')
    .action(() => run((session) => switchTo('resume', stageOf(session), session)))
}

function stageOf({ target }: Session): string {
  if (target.stage !== undefined) return target.stage
  throw new CommandError('wrong_usage', 'Say which deployed stage, with --stage <name>.', { exitCode: 2 })
}

async function switchTo(what: 'stop' | 'resume', stage: string, { output, signal, target }: Session): Promise<0> {
  const { stackNameOf, useRegionOf } = await import('./region.ts')
  const { resumeService, stopService } = await import('./service-switch.ts')
  useRegionOf(target)
  const change = what === 'stop' ? stopService : resumeService
  await change(
    stackNameOf(stage),
    (switched) => {
      const { name, isRunning, reservedConcurrency } = switched
      const reserved = reservedConcurrency === undefined ? '' : `, reserved concurrency ${reservedConcurrency}`
      output.tell(`${name}: ${isRunning ? `runs again${reserved}` : 'stopped'}`, switched)
    },
    signal,
  )
  return 0
}
