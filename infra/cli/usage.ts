import { type Command, Option } from 'commander'
import * as values from './terminal/parse-values.ts'

/** The arguments that several commands have, by the names that their usage gives them. */
const ARGUMENTS: Record<string, { what: string; parse(text: string): string }> = {
  workspace_id: { what: 'the workspace', parse: values.parseWorkspaceId },
  container_id: { what: 'the container', parse: values.parseContainerId },
  key_id: { what: 'which key', parse: values.parseKeyId },
  document_id: { what: 'which document', parse: values.parseDocumentId },
  link_id: { what: 'which link', parse: values.parseLinkId },
}

/** Makes a command of a group, by its usage: `show <key_id>`. */
export function addCommand(group: Command, usage: string, description: string): Command {
  const command = group.command(usage).description(description)
  for (const argument of command.registeredArguments) {
    const known = ARGUMENTS[argument.name()]
    if (known === undefined) continue
    argument.description = known.what
    argument.argParser(known.parse)
    if (argument.variadic) argument.argParser(values.listOf(known.parse))
  }
  return command
}

/** Tells settings from a command's other options. An undefined `to`: the setting is taken away. */
const GIVEN = Symbol('given')
type Given = { [GIVEN]: true; to: unknown }

/** An option that stands for a setting, by the name that the setting has in lib. */
export type SettingOption<Settings> = readonly [
  setting: keyof Settings & string,
  flags: string,
  description: string,
  /** @param before what the same option has taken already */
  parse: (text: string, before: never) => unknown,
  /** The word that takes the setting away. */
  unset?: string,
]

export function addSettings<Settings>(command: Command, options: readonly SettingOption<Settings>[]): Command {
  for (const [setting, flags, description, parse, unset] of options) {
    const option = new Option(flags, unset === undefined ? description : `${description}; or ${unset}`)
    option.attributeName = () => setting
    option.argParser((text, before?: Given): Given => {
      const isUnset = unset !== undefined && text === unset
      return { [GIVEN]: true, to: isUnset ? undefined : parse(text, before?.to as never) }
    })
    command.addOption(option)
  }
  return command
}

/** The settings that were given, and no others: what is not named stays. */
export function settingsIn<Settings>(options: object): Partial<Settings> {
  const given = Object.entries(options).flatMap(([name, each]) => (each?.[GIVEN] ? [[name, each.to]] : []))
  return Object.fromEntries(given)
}
