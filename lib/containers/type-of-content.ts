import { UNKNOWN_TYPE } from '../media-type.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const NOT_IN_TEXT = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]/

/** Enough to recognise a type. */
export const SNIFFED_BYTES = 4096

/** @returns undefined when there is nothing to tell it by */
export async function typeOfContent(start: Uint8Array): Promise<string | undefined> {
  if (start.length === 0) return undefined
  // Loaded on demand, like the table of extensions.
  const { fileTypeFromBuffer } = await import('file-type/core')
  return (await fileTypeFromBuffer(start))?.mime ?? (isText(start) ? 'text/plain; charset=utf-8' : UNKNOWN_TYPE)
}

function isText(start: Uint8Array): boolean {
  try {
    // Decoded as a stream: the last character may be cut off.
    return !NOT_IN_TEXT.test(new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true }))
  } catch {
    return false
  }
}
