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
