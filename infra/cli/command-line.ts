import { join } from 'node:path'
import { Command, CommanderError, Help, Option } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { wrongUsage } from './command-error.ts'
import { addAuditCommand } from './commands/audit-command.ts'
import { addContainersCommands } from './commands/containers-commands.ts'
import { addDocumentsCommands } from './commands/documents-commands.ts'
import { addKeysCommands } from './commands/keys-commands.ts'
import { addWorkspacesCommands } from './commands/workspaces-commands.ts'
import type { Target } from './connect.ts'
import { createSession, type ExitCode, later, type Run } from './session.ts'
import { createOutput, type Terminal } from './terminal/output.ts'
import { parseMoment, parseStage } from './terminal/parse-values.ts'
import { addCommand } from './usage.ts'

const DIRECTORY = join(import.meta.dirname, '../../.local')

const ENDPOINTS = `
Which deployment:
  --local          the service that npm start runs on this machine
  --stage <name>   the deployed stage: its settings are read from its function
  neither          the functions' variables, in the environment (docs/settings.md)
AWS credentials come from the environment as for any AWS tool. AWS_ENDPOINT_URL_DYNAMODB and AWS_ENDPOINT_URL_S3
point to servers other than AWS's.`

const EXIT_CODES = `
Exit code: 0 done, or already so; 1 something is missing, already there, or wrong; 2 the command was used wrongly or
failed. Standard output has only what was asked for; an error is one line on standard error. Commands that delete or lock
somebody out ask first: --yes answers, and is required without a terminal.`

/** @param args what follows the program's name @param signal aborts when the user wants to stop */
export async function runCommandLine(args: readonly string[], terminal: Terminal, signal: AbortSignal) {
  // A usage error comes before the options are parsed: this one is read directly from the arguments.
  const output = createOutput({ isJson: args.includes('--json'), terminal })
  let exitCode: ExitCode | 2 = 0
  const program = createProgram(terminal)
  const run: Run =
    (work) =>
    async (...args) => {
      const session = createSession({ target: program.opts<Target>(), output, terminal, signal })
      exitCode = (await work(session, ...args)) ?? 0
    }
  addCommands(program, run)

  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (thrown) {
    const error: unknown = signal.aborted ? signal.reason : thrown
    const isOfUsage = error instanceof CommanderError
    if (isOfUsage && /^commander\.(help|version)/.test(error.code)) return error.exitCode === 0 ? 0 : 2
    const { explainFailure } = await import('./explain-failure.ts')
    const usage = () => wrongUsage(`${(error as Error).message.replace(/^error: /, '')} (--help tells how)`)
    const failure = explainFailure(isOfUsage ? usage() : error)
    output.fail(failure)
    return failure.exitCode
  } finally {
    output.close()
  }
  return exitCode
}

function createProgram({ stdout, stderr }: Terminal): Command {
  const name = process.env.npm_lifecycle_event === 'admin' ? 'npm run admin --' : 'promotion-admin'
  const wrapped = (line: string) => new Help().boxWrap(line, stdout.columns ?? Number.POSITIVE_INFINITY)
  return new Command(name)
    .version(manifest.version, '--version', 'print the version')
    .description('Administration of the container file promotion service.')
    .addOption(new Option('--local', 'the service that npm start runs').default(false).conflicts(['stage', 'region']))
    .addOption(new Option('--directory <path>', 'with --local: its data directory').default(DIRECTORY, '.local'))
    .option('--stage <name>', 'a deployed stage', parseStage)
    .option('--region <name>', 'AWS region, instead of AWS_REGION')
    .option('--json', 'print one JSON object per line, for errors, too', false)
    .option('--yes', 'do not ask', false)
    .configureHelp({ showGlobalOptions: true, minWidthToWrap: 20 })
    .addHelpText('after', ENDPOINTS)
    .addHelpText('afterAll', EXIT_CODES)
    .configureOutput({
      writeOut: (text) => stdout.write(text.split('\n').map(wrapped).join('\n')),
      writeErr: (text) => stderr.write(text),
      // Errors are thrown, and reported in one place above.
      outputError() {},
    })
    .exitOverride()
}

function addCommands(program: Command, run: Run): void {
  for (const add of [addWorkspacesCommands, addKeysCommands, addDocumentsCommands, addContainersCommands])
    add(program, run)
  addAuditCommand(program.command('audit'), run)
  const checked = 'configuration, credentials, tables, buckets and deployment'
  addCommand(program, 'doctor', `check ${checked}; changes nothing`)
    .addHelpText('after', '\nA failed check does not stop the others. Exits with 1 if there is a problem.')
    .action(run(later(async () => (await import('./doctor/examine.ts')).examine)))
  addCommand(program, 'smoke', 'test a deployment over HTTPS, in a workspace of its own that it removes again')
    .option('--base-url <url>', "an address other than the stack's, ending in the version (https://…/v1)")
    .option('--no-expiry', 'do not wait for the resolver to delete a document that has expired, two minutes at most')
    .option('--no-telemetry', 'do not wait for log lines and metrics, which take minutes')
    .addHelpText('after', '\nRun it after a deployment. Exits with 1 on a problem, or if something is left behind.')
    .action(run(later(async () => (await import('./smoke/run-smoke.ts')).runSmoke)))
  const switchStage = later(async () => (await import('./commands/service-switch.ts')).switchStage)
  addCommand(program, 'stop', 'stop all requests and scheduled runs of a deployed stage, until it is resumed')
    .addHelpText('after', '\nCallers get a 5xx. What is under way finishes. A deployment does not resume the stage.')
    .action(run((session) => switchStage(session, 'stop')))
  addCommand(program, 'resume', 'undo stop: requests and schedules are as deployed again').action(
    run((session) => switchStage(session, 'resume')),
  )
  addRestoreCommands(program.command('restore'), run)
}

function addRestoreCommands(group: Command, run: Run): void {
  group.description('restore tables to a moment')
  const which = new Option('--table <which>', 'ledger: workspaces and documents, which belong together')
  addCommand(group, 'tables', "restore a stage's tables into new ones, and say how to use them")
    .requiredOption('--at <time>', 'the moment to restore, such as 2026-11-21T09:00Z', parseMoment)
    .addOption(which.choices(['ledger', 'keys']).default('ledger'))
    .addHelpText('after', '\nChanges nothing in use. May be repeated: it waits for a restore already begun.')
    .action(run(later(async () => (await import('./restore/restore-tables.ts')).restoreTables)))
}
