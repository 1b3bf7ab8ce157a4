import type { Command } from 'commander'
import { listOf, parseContainerId, parseDocumentId, parseKeyId, parseWorkspaceId } from './terminal/parse-values.ts'

/** The arguments that several commands have, by the names that their usage gives them. */
const ARGUMENTS: Record<string, { what: string; parse(text: string): string; example: string }> = {
  workspace_id: { what: 'the workspace', parse: parseWorkspaceId, example: 'ws_acme' },
  container_id: { what: 'the container', parse: parseContainerId, example: 'sess_b3t1' },
  key_id: { what: 'which key', parse: parseKeyId, example: 'key_0XKzWvX1dQ9Cd3BBZ4oiSQ1LRtDC' },
  document_id: { what: 'which document', parse: parseDocumentId, example: 'file_ChGEzHh4gNnrXCdfGHJtP' },
}

/** Makes a command of a group, by its usage: `show <key_id>`. */
export function addCommand(group: Command, usage: string, description: string): Command {
  const command = group.command(usage).description(description)
  for (const argument of command.registeredArguments) {
    const known = ARGUMENTS[argument.name()]
    if (known === undefined) continue
    argument.description = known.what
    argument.argParser(known.parse)
    if (argument.variadic) argument.argParser(listOf(known.parse))
  }
  return command
}

/** Examples of commands that need more than ids. */
const EXAMPLES = [
  'workspaces create ws_acme --quota 20GiB',
  'workspaces set ws_acme --quota 50GiB --expire-after 30d --expire-at-most 90d',
  'keys create --workspace ws_acme --permission files:promote,files:read --expires 90d',
  'keys list --workspace ws_acme',
  'keys change key_0XKzWvX1dQ9Cd3BBZ4oiSQ1LRtDC --permission files:read,files:delete --expires 30d',
  'keys rotate key_0XKzWvX1dQ9Cd3BBZ4oiSQ1LRtDC --grace 24h',
  'documents expire ws_acme file_ChGEzHh4gNnrXCdfGHJtP --in 7d',
  'documents delete ws_acme file_ChGEzHh4gNnrXCdfGHJtP,file_ChGEzKRzNbJLPs9Sz2UTq',
  'containers put results/ --container sess_b3t1 --workspace ws_acme',
  'containers grant sess_b3t1 --workspace ws_acme --for 1h --form process',
  'containers upload-url sess_b3t1 report.csv --workspace ws_acme --max-bytes 20MiB',
  'audit --workspace ws_acme --repair',
  'restore tables --at 2026-11-21T09:00Z',
]

/** Adds its example to the help of each command. */
export function addExamples(program: Command, command = program, path: readonly string[] = []): void {
  for (const each of command.commands) addExamples(program, each, [...path, each.name()])
  if (command.commands.length > 0) return
  const ids = command.registeredArguments.map((argument) => ARGUMENTS[argument.name()]?.example)
  const example = EXAMPLES.find((each) => each.startsWith(`${path.join(' ')} `)) ?? [...path, ...ids].join(' ')
  command.addHelpText('after', `\nFor example:\n  ${program.name()} --stage prod ${example}`)
}
