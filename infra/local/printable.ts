import { stripVTControlCharacters } from 'node:util'
import { INVISIBLE } from '../../lib/files/content-disposition.ts'

/** Control characters except the line feed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g

/** As \uXXXX, which means the same in JSON. */
const escaped = (character: string) =>
  character.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Text that others chose, such as a file name, safe to show: it can neither control nor spoof a terminal. */
export function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replace(CONTROL, '\u{fffd}')
    .replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** The same, in one line: a line break in a name cannot forge another. */
export const printableLine = (text: string) => printable(text).replaceAll('\n', '\\n')

export const printableJson = (value: object, replacer?: (name: string, value: unknown) => unknown): string =>
  JSON.stringify(value, replacer).replace(CONTROL, escaped).replace(INVISIBLE, escaped)
