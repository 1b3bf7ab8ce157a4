export const UNKNOWN_TYPE = 'application/octet-stream'

/** RFC 9110 §8.3.1, with the names of RFC 6838 §4.2: a range such as text/* has none. */
const MEDIA_TYPE =
  /^[a-z\d][\w!#$&^.+-]*\/[a-z\d][\w!#$&^.+-]*( *;( *[\w!#$%&'*+.^`|~-]+=([\w!#$%&'*+.^`|~:-]+|"[ !#-[\]-~]*"))?)*$/i
/** Types that mounts and sync tools store, without bytes, for anything but a regular file. */
const DIRECTORY_OR_LINK = /^(application\/(x-)?directory|httpd\/unix-directory|inode\/(?!x-empty$).+)$/
/** Defaults of S3, of its clients and of HTML forms; and what `file` calls an empty file. */
const DEFAULTS =
  /^((application|binary)\/octet-stream|application\/x-www-form-urlencoded|multipart\/form-data|inode\/x-empty)$/

/** @returns the media type with its parameters; undefined for one that is too long to list or says nothing */
export function knownType(contentType: string | undefined): string | undefined {
  const type = contentType?.trim() ?? ''
  if (type.length > 255 || !MEDIA_TYPE.test(type)) return undefined
  return [DEFAULTS, DIRECTORY_OR_LINK].some((pattern) => pattern.test(essenceOf(type))) ? undefined : type
}

/**
 * Hadoop's directories have a key of their own. An object with bytes is a file even so: tools that follow a link upload
 * what it points to, under the link's type.
 */
export function isDirectoryOrLink(objectKey: string, sizeBytes: number, contentType?: string): boolean {
  return sizeBytes === 0 && (DIRECTORY_OR_LINK.test(essenceOf(contentType)) || objectKey.endsWith('_$folder$'))
}

/** Without parameters. */
export const essenceOf = (contentType = ''): string => contentType.replace(/;.*/s, '').trim().toLowerCase()

/**
 * What a browser shows by itself, and takes for nothing else. HTML, SVG and XML are not among them: they bring scripts
 * along, or what looks like the page of somebody else.
 */
const SHOWN = new Set([
  ...['image/avif', 'image/bmp', 'image/gif', 'image/jpeg', 'image/png', 'image/webp', 'application/pdf'],
  ...['audio/aac', 'audio/flac', 'audio/mp4', 'audio/mpeg', 'audio/ogg', 'audio/wav', 'audio/webm'],
  ...['video/mp4', 'video/ogg', 'video/webm'],
])
const SHOWN_AS_TEXT = new Set(['text/plain', 'text/csv', 'text/markdown', 'application/json'])

/** The type under which a browser may show a document, never in its container's words. @returns undefined: under none */
export function inlineType(mimeType: string): string | undefined {
  const type = essenceOf(mimeType)
  if (SHOWN_AS_TEXT.has(type)) return 'text/plain; charset=utf-8'
  return SHOWN.has(type) ? type : undefined
}

export const isPlayed = (type: string) => /^(audio|video)\//.test(type)
