import { UNKNOWN_TYPE } from '../files/media-type.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const NOT_IN_TEXT = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]/
/** The beginnings of texts, and their types. All other marks of formats are chance where nothing but text follows. */
const TEXTS: readonly (readonly [RegExp, string])[] = [
  [/^%PDF-/, 'application/pdf'],
  [/^%!PS/, 'application/postscript'],
  [/^\{\\rtf/, 'application/rtf'],
  [rootedIn('svg'), 'image/svg+xml'],
  [rootedIn('html|head|body'), 'text/html'],
  [rootedIn('smil'), 'application/smil+xml'],
  [/^<\?xml\s/, 'application/xml'],
  [/^BEGIN:VCALENDAR\b/i, 'text/calendar'],
  [/^BEGIN:VCARD\b/i, 'text/vcard'],
  [/^WEBVTT\s/, 'text/vtt'],
  [/^-----BEGIN PGP MESSAGE-----/, 'application/pgp-encrypted'],
  [/^-----BEGIN PGP (PUBLIC|PRIVATE) KEY/, 'application/pgp-keys'],
  [/^-----BEGIN PGP SIGNATURE-----/, 'application/pgp-signature'],
  [/^solid\b[^\n]*\n\s*(facet normal|endsolid)\b/, 'model/stl'],
]
/** Types whose mark is so short that much other data begins with it: whether the bytes after it fit as well. */
const FITS = new Map<string, (start: Buffer) => boolean>([
  ['image/x-icon', (start) => start.length > 21 && start.readUInt32LE(18) === 6 + 16 * start.readUInt16LE(4)],
  ['font/ttf', (start) => start.length > 7 && start.readUInt16BE(6) === 16 << Math.log2(start.readUInt16BE(4))],
  ['video/mp2t', (start) => start.every((byte, at) => at % 188 !== 0 || byte === 0x47)],
  ['application/x-apple-diskimage', () => false], // It is zlib's.
])

/** Enough to recognise a type. */
export const SNIFFED_BYTES = 4096

/** @returns undefined when there is nothing to tell it by */
export async function typeOfContent(start: Uint8Array): Promise<string | undefined> {
  if (start.length === 0) return undefined
  const { text, type } = decode(start)
  // FITS begins with lines of text, and its data may follow within these bytes.
  if (/^SIMPLE {2}= {20}[TF]/.test(text)) return 'application/fits'
  if (!NOT_IN_TEXT.test(text)) return TEXTS.find(([mark]) => mark.test(text))?.[1] ?? type
  // The library would unpack it, to look for an archive.
  if (start[0] === 0x1f && start[1] === 0x8b) return 'application/gzip'
  const { fileTypeFromBuffer } = await import('file-type')
  const found = (await fileTypeFromBuffer(start))?.mime
  return found && FITS.get(found)?.(Buffer.from(start)) !== false ? found : UNKNOWN_TYPE
}

/** Bytes that are only readable as Latin-1 may be text, but in a charset that nothing tells. */
function decode(start: Uint8Array): { text: string; type: string } {
  const mark = Buffer.from(start.subarray(0, 2)).toString('hex')
  const charset = { fffe: 'utf-16le', feff: 'utf-16be' }[mark] ?? 'utf-8'
  try {
    // Decoded as a stream: the last character may be cut off.
    const text = new TextDecoder(charset, { fatal: true }).decode(start, { stream: true })
    return { text, type: `text/plain; charset=${charset}` }
  } catch {
    return { text: Buffer.from(start).toString('latin1'), type: UNKNOWN_TYPE }
  }
}

/** Before the root may stand the declaration and comments. No alternative begins like another, so it cannot be slow. */
function rootedIn(names: string): RegExp {
  return new RegExp(`^(?:\\s|<\\?[^>]*>|<!--(?:(?!-->)[^])*-->)*<(?:!doctype\\s+|svg:)?(?:${names})[\\s>:/]`, 'i')
}
