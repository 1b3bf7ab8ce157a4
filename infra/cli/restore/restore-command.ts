import { type Command, Option } from 'commander'
import type { Run } from '../session.ts'
import { parsePastMoment } from '../terminal/parse-values.ts'
import type { TableOptions } from './restore-tables.ts'

const AT = 'the moment to restore, as in 2026-11-21T09:00Z'

export function addRestoreCommands(program: Command, run: Run): void {
  const group = program.command('restore').description('restore tables to a moment, and rehearse it')
  group
    .command('tables')
    .description('restore tables of a stage into new ones, and say how to use these')
    .requiredOption('--at <time>', AT, parsePastMoment)
    .addOption(
      new Option('--table <which>', 'ledger: workspaces, reservations and documents, which belong together')
        .choices(['ledger', 'keys'])
        .default('ledger'),
    )
    .addHelpText('after', '\nChanges nothing that is in use. May be repeated: a restore that was begun is waited for.')
    .action(
      run(async (session, options: TableOptions) =>
        (await import('./restore-tables.ts')).restoreTables(session, options),
      ),
    )
  group
    .command('rehearse')
    .description('restore workspaces, reservations and documents beside those in use, audit them, remove them again')
    .option('--at <time>', `${AT}; without it, the last that can be`, parsePastMoment)
    .addHelpText('after', '\nEnds with 1 for what the audit finds: also documents made or deleted after that moment.')
    .action(
      run(async (session, { at }: { at?: number }) => (await import('./rehearse.ts')).rehearseRestore(session, at)),
    )
}
