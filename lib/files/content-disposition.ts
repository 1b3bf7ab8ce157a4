/** To be saved, or to be shown by the browser. */
export type Disposition = 'attachment' | 'inline'

const FALLBACK_NAME = 'download'
/** The limit of most file systems. In the URL each byte takes five characters. */
const MAX_NAME_BYTES = 255
const NOT_PLAIN = /[^\u0020-\u007e]|["%]/gu
/** To Windows a backslash separates folders; a colon ends the name of a drive, or begins that of a hidden stream. */
const PLACE_ON_WINDOWS = /[\\:]/g
/** attr-char of RFC 5987 §3.2.1 beside letters and digits, of what encodeURIComponent leaves as it is. */
const NOT_ATTR_CHAR = /['()*]/g
/**
 * Characters that cannot be seen but change how others are: zero-width, bidirectional and other format characters
 * (Unicode category Cf), line and paragraph separators, variation selectors and tags. U+200D joins emoji and letters of
 * some scripts; a name that needs it is rarer than one that abuses it.
 */
export const INVISIBLE =
  /\p{Cf}|\p{Zl}|\p{Zp}|[\u115f\u1160\u3164\uffa0]|\u034f|[\ufe00-\ufe0e]|[\u{e0100}-\u{e01ef}]/gu

/**
 * The value of Content-Disposition (RFC 6266) that saves a file under the last segment of its path: `filename*` in
 * UTF-8 and an ASCII fallback. It is always one header value of visible ASCII, whatever the path.
 * @param disposition by default so that no browser renders somebody's HTML under the bucket's domain
 */
export function dispositionOf(path: string, disposition: Disposition = 'attachment'): string {
  const name = nameOf(path)
  return `${disposition}; filename="${name.replace(NOT_PLAIN, '_')}"; filename*=UTF-8''${encodeExtended(name)}`
}

/** A name that shows what the file is and leads to no other place: nothing in it hides or reverses an extension. */
function nameOf(path: string): string {
  return shorten((path.split('/').at(-1) || FALLBACK_NAME).replace(INVISIBLE, '_').replace(PLACE_ON_WINDOWS, '_'))
}

function encodeExtended(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    NOT_ATTR_CHAR,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Cuts to 255 bytes of UTF-8, between characters, and keeps the extension. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name
  const extension = /\.[A-Za-z0-9]{1,16}$/.exec(name)?.[0] ?? ''
  const bytes = Buffer.from(name.slice(0, name.length - extension.length))
  const most = bytes.subarray(0, MAX_NAME_BYTES - extension.length)
  // Decoded as a stream: a last character that is cut off is left out.
  return new TextDecoder().decode(most, { stream: true }) + extension
}
