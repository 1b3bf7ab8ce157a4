import { type Command, Option } from 'commander'

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
