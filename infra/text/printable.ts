import { stripVTControlCharacters } from 'node:util'

/** Control characters but the line feed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g
/**
 * Invisible characters that change others: zero-width, bidirectional and other format characters (Unicode category Cf),
 * line and paragraph separators, variation selectors and tags. U+200D joins emoji and letters of some scripts; a name
 * that needs it is rarer than one that abuses it.
 */
const INVISIBLE = /\p{Cf}|\p{Zl}|\p{Zp}|[\u115f\u1160\u3164\uffa0]|\u034f|[\ufe00-\ufe0e]|[\u{e0100}-\u{e01ef}]/gu

/** Text that others chose, such as a file name, safe to show: it can neither control nor spoof a terminal. */
export function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replace(CONTROL, '\u{fffd}')
    .replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}
