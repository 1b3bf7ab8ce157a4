import { type Command, Option } from 'commander'
import { later, type Run } from '../session.ts'
import { parseMoment } from '../terminal/parse-values.ts'

const AT = 'the moment to restore, such as 2026-11-21T09:00Z'

export function addRestoreCommands(program: Command, run: Run): void {
  const group = program.command('restore').description('restore tables to a moment, or rehearse that')
  group
    .command('tables')
    .description("restore a stage's tables into new ones, and say how to use them")
    .requiredOption('--at <time>', AT, parseMoment)
    .addOption(
      new Option('--table <which>', 'ledger: workspaces and documents, which belong together')
        .choices(['ledger', 'keys'])
        .default('ledger'),
    )
    .addHelpText('after', '\nChanges nothing in use. May be repeated: it waits for a restore already begun.')
    .action(run(later(async () => (await import('./restore-tables.ts')).restoreTables)))
  group
    .command('rehearse')
    .description('restore workspaces and documents beside those in use, audit them, remove them again')
    .option('--at <time>', `${AT}; by default the latest possible`, parseMoment)
    .addHelpText('after', '\nExits with 1 if the audit finds anything, even documents made or deleted since.')
    .action(run(later(async () => (await import('./rehearse.ts')).rehearseRestore)))
}
