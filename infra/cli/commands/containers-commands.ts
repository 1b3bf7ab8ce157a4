import { type Command, Option } from 'commander'
import type { ContainerId } from '../../../lib/ids.ts'
import { type Container, openContainer } from '../containers/open-container.ts'
import { later, type Run, type Session } from '../session.ts'
import { parseContainerId, parseWorkspaceId, secondsBetween } from '../terminal/parse-values.ts'
import { addCommand } from '../usage.ts'

export function addContainersCommands(program: Command, run: Run): void {
  const group = program.command('containers').description('put files into containers; let containers write')
  group.option('--workspace <id>', 'its workspace; with --local, the demonstration by default', parseWorkspaceId)
  const form = new Option('--form <form>', 'for a shell, or for credential_process; --json prints all for a program')
  const open = (session: Session, id: ContainerId) => openContainer(session, id, group.opts().workspace)
  const inContainer = <Args extends unknown[]>(work: (...args: [Session, Container, ...Args]) => Promise<void>) =>
    run(async (session, id: ContainerId, ...args: Args) => work(session, await open(session, id), ...args))
  const putInto = async (session: Session, names: string[], { container }: { container: ContainerId }) =>
    (await import('../containers/put-files.ts')).putFiles(session, await open(session, container), names)

  const add = (usage: string, description: string) => addCommand(group, usage, description)
  add('put', 'put files and directories into a container, in place of files of the same paths')
    .argument('<file...>', 'files, and directories with all that is in them, except links')
    .requiredOption('--container <id>', 'the container', parseContainerId)
    .addHelpText('after', '\nPuts nothing if there is a file among them that could not be promoted.')
    .action(run(putInto))
  const reach = 'that list, read and write the files of this container, and nothing else'
  add('grant <container_id>', `print AWS credentials ${reach}`)
    .addOption(lifeOption('1h', '15m', '12h'))
    .addOption(form.choices(['env', 'process']).default('env'))
    .addHelpText('after', '\nThe setting sandboxWriters names who may. Whoever has assumed a role gets 1h at most.')
    .action(inContainer(later(async () => (await import('../containers/grant.ts')).grant)))
  add('upload-url <container_id>', 'print a URL by which anybody can upload one file, without AWS credentials')
    .argument('<path>', 'its path in the container')
    .addOption(lifeOption('15m', '1s', '7d'))
    .addHelpText('after', '\nIt ends with the credentials that sign it, if these end before.')
    .action(inContainer(later(async () => (await import('../containers/upload-url.ts')).printUploadUrl)))
}

function lifeOption(byDefault: string, shortest: string, longest: string): Option {
  const parse = secondsBetween(shortest, longest)
  const option = new Option('--for <duration>', `how long, from ${shortest} to ${longest}`)
  return option.argParser(parse).default(parse(byDefault), byDefault)
}
