/** What mounts and sync tools store for what is no regular file, with no bytes. */
const DIRECTORY_OR_LINK = /^(application\/(x-)?directory|httpd\/unix-directory|inode\/(?!x-empty$).+)$/

/** With bytes it is a file all the same: tools that follow a link upload what it points to, under the link's type. */
export function isDirectoryOrLink(object: { sizeBytes: number; contentType: string | undefined }): boolean {
  return object.sizeBytes === 0 && DIRECTORY_OR_LINK.test(essenceOf(object.contentType))
}

/** Type and subtype, without parameters. */
export function essenceOf(contentType = ''): string {
  return contentType.replace(/;.*/s, '').trim().toLowerCase()
}
