import type { Command } from 'commander'
import {
  listOf,
  parseContainerId,
  parseDocumentId,
  parseKeyId,
  parseLinkId,
  parseWorkspaceId,
} from './terminal/parse-values.ts'

/** The arguments that several commands have, by the names that their usage gives them. */
const ARGUMENTS: Record<string, { what: string; parse(text: string): string }> = {
  workspace_id: { what: 'the workspace', parse: parseWorkspaceId },
  container_id: { what: 'the container', parse: parseContainerId },
  key_id: { what: 'which key', parse: parseKeyId },
  document_id: { what: 'which document', parse: parseDocumentId },
  link_id: { what: 'which link', parse: parseLinkId },
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
