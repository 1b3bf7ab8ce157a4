import { join } from 'node:path'
import { Command } from 'commander'
import { auditCommand } from './audit-command.ts'
import { connect, useLocalService } from './connect.ts'

interface GlobalOptions {
  local: boolean
  directory: string
}

const program = new Command('npm run admin --')
  .description(
    'Administration of the container file promotion service. Reads the environment variables that its functions have ' +
      '(README.md), and the AWS credentials and region of the environment.',
  )
  .option('--local', 'the service that npm start runs on this machine', false)
  .option('--directory <path>', 'where that service keeps its data', join(import.meta.dirname, '../../.local'))
  .showHelpAfterError()
  // 1 says that something was found.
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))

program
  .command('audit')
  .description('compare ledger, documents and objects of every workspace, while the service runs')
  .option('--repair', 'mend what is found', false)
  .option('--delete-lost-documents', 'with --repair: also delete documents whose object is gone', false)
  .option('--workspace <id>', 'only this workspace')
  .option('--json', 'one JSON object per line', false)
  .addHelpText(
    'after',
    '\nExit code: 0 nothing is wrong or all of it was mended, 1 something is left, 2 the audit failed.',
  )
  .action(async (options) => {
    process.exitCode = await auditCommand(options, await connectTo(program.opts<GlobalOptions>()))
  })

try {
  await program.parseAsync()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}

async function connectTo({ local, directory }: GlobalOptions) {
  return connect(local ? await useLocalService(directory) : process.env)
}
