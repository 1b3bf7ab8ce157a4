import { stripVTControlCharacters } from 'node:util'
import { INVISIBLE } from '../../lib/content-disposition.ts'

/** Control characters except the line feed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g

/** Text that others chose, such as a file name, safe to show: it can neither control nor spoof a terminal. */
export function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replace(CONTROL, '\u{fffd}')
    .replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}
