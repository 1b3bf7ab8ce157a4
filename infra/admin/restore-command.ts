import { type Command, Option } from 'commander'
import type { Environment } from '../../lib/config.ts'
import { describeFinding } from './audit-command.ts'
import { CommandError } from './command-error.ts'
import { parsePastMoment } from './parse-values.ts'
import type { Restorable } from './restore/restorable.ts'
import type { ExitCode, Run, Session } from './session.ts'

const AT = 'the moment to restore, as in 2026-11-21T09:00Z'

export function addRestoreCommands(command: Command, run: Run): void {
  command
    .command('tables')
    .description('restore tables of a stage into new ones, and say how to use these')
    .addOption(new Option('--at <time>', AT).argParser(parsePastMoment).makeOptionMandatory())
    .addOption(
      new Option('--table <which>', 'ledger: workspaces, reservations and documents, which belong together')
        .choices(['ledger', 'keys'])
        .default('ledger'),
    )
    .addHelpText(
      'after',
      '\nNothing that is in use is changed. May be repeated: a restore that was begun is waited for.',
    )
    .action((options: { at: number; table: 'ledger' | 'keys' }) => run((session) => restoreTables(options, session)))
  command
    .command('rehearse')
    .description('restore workspaces, reservations and documents beside those in use, audit them, remove them again')
    .addOption(new Option('--at <time>', `${AT}; without it, the last that can be`).argParser(parsePastMoment))
    .addHelpText(
      'after',
      '\nEnds with 1 when the audit finds something: documents made or deleted after that moment are found, too.',
    )
    .action(({ at }: { at?: number }) => run((session) => rehearseRestore(at, session)))
}

async function restoreTables(
  { at, table }: { at: number; table: 'ledger' | 'keys' },
  session: Session,
): Promise<ExitCode> {
  const { output, signal, target } = session
  const env = await checkedEnvironment(session)
  const { LEDGER, RESTORABLE, tableOf, targetOf } = await import('./restore/restorable.ts')
  const { momentOf, protectAs, restoreTable } = await import('./restore/restore-tables.ts')
  const client = await dynamoDb()
  const wanted: readonly Restorable[] = table === 'ledger' ? LEDGER : [table]
  const momentMs = await momentOf(
    wanted.map((which) => tableOf(which, env)),
    at,
    client,
    signal,
  )
  output.progress('restoring, which takes minutes or hours')
  const restores = wanted.map(async (which) => {
    const source = tableOf(which, env)
    const restored = await restoreTable({ source, target: targetOf(source, momentMs, 'at'), momentMs }, client, signal)
    await protectAs(restored, client, signal)
    const { parameter } = RESTORABLE[which]
    output.tell(`${source} was restored into ${restored.target}, in ${seconds(restored.durationMs)}.`, {
      ...restored,
      parameter,
    })
    return `${parameter}: ${restored.target}`
  })
  await Promise.allSettled(restores)
  const lines = await Promise.all(restores)
  if (output.isJson) return 0
  output.tell(
    `\nWrite into settings/${target.stage ?? 'STAGE'}.yml, deploy, and audit (docs/operations.md#restore):\n${lines.join('\n')}`,
    {},
  )
  return 0
}

async function rehearseRestore(at: number | undefined, session: Session): Promise<ExitCode> {
  const { output, signal } = session
  const env = await checkedEnvironment(session)
  const { rehearse } = await import('./restore/rehearse.ts')
  const report = await rehearse({
    env,
    askedForMs: at,
    client: await dynamoDb(),
    onProgress: output.progress,
    onFinding: (finding) => output.tell(describeFinding(finding), finding),
    signal,
  })
  const { tables, workspaces, documents, findings, left, momentMs } = report
  const moment = new Date(momentMs)
  const text = [
    ...tables.map(({ source, durationMs }) => `${source} was restored in ${seconds(durationMs)}.`),
    `As of ${moment.toISOString()}: ${workspaces} workspaces with ${documents} documents, ${findings === 0 ? 'nothing is wrong' : `${findings} findings`}.`,
    left.length === 0 ? 'The restored tables were removed again.' : `Left behind: ${left.join('; ')}`,
  ]
  const { momentMs: _, ...others } = report
  output.tell(text.join('\n'), { kind: 'report', moment, ...others })
  return findings === 0 && left.length === 0 ? 0 : 1
}

async function checkedEnvironment(session: Session): Promise<Environment> {
  if (session.target.local) {
    throw new CommandError('wrong_usage', 'The local service has no point-in-time recovery: say --stage <name>.', {
      exitCode: 2,
    })
  }
  const env = await session.environment()
  const { readSettings } = await import('./connect.ts')
  readSettings(env)
  return env
}

async function dynamoDb() {
  const { createDynamoDbClient } = await import('../../lib/aws/clients.ts')
  // Reads, and writes that may be repeated.
  return createDynamoDbClient({ maxAttempts: 3 })
}

const seconds = (durationMs: number) => `${Math.ceil(durationMs / 1000)} s`
