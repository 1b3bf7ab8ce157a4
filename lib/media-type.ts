export const UNKNOWN_TYPE = 'application/octet-stream'

/** Each document stores its type, and a page of them must fit into an answer. */
const MAX_LENGTH = 255
/** RFC 9110 §8.3.1, with the names of RFC 6838 §4.2: a range such as text/* has none. */
const MEDIA_TYPE =
  /^[a-z\d][\w!#$&^.+-]*\/[a-z\d][\w!#$&^.+-]*( *;( *[\w!#$%&'*+.^`|~-]+=([\w!#$%&'*+.^`|~:-]+|"[ !#-[\]-~]*"))?)*$/i
/** Defaults of S3, its clients and of HTML forms (curl's, too), and what `file` calls an empty file. */
const SAYS_NOTHING =
  /^((application|binary)\/octet-stream|application\/x-www-form-urlencoded|multipart\/form-data|inode\/x-empty)$/
/** What mounts and sync tools store for what is no regular file, with no bytes. */
const DIRECTORY_OR_LINK = /^(application\/(x-)?directory|httpd\/unix-directory|inode\/(?!x-empty$).+)$/

/** @returns the media type with its parameters; undefined for a Content-Type that tells nothing of the bytes */
export function knownType(contentType: string | undefined): string | undefined {
  const type = contentType?.trim() ?? ''
  const essence = essenceOf(type)
  const isKnown = type.length <= MAX_LENGTH && MEDIA_TYPE.test(type)
  return isKnown && !SAYS_NOTHING.test(essence) && !DIRECTORY_OR_LINK.test(essence) ? type : undefined
}

/** With bytes it is a file all the same: tools that follow a link upload what it points to, under the link's type. */
export function isDirectoryOrLink(object: { sizeBytes: number; contentType: string | undefined }): boolean {
  return object.sizeBytes === 0 && DIRECTORY_OR_LINK.test(essenceOf(object.contentType))
}

/** Type and subtype, without parameters. */
export function essenceOf(contentType = ''): string {
  return contentType.replace(/;.*/s, '').trim().toLowerCase()
}
