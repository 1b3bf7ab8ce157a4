const UNKNOWN_TYPE = 'application/octet-stream'
/** Defaults of S3 and its clients, which say nothing about the file. */
const GENERIC_TYPES = new Set(['', 'binary/octet-stream', UNKNOWN_TYPE])

/**
 * The Content-Type that the container stored, unless it is generic; then by the extension; then by the content.
 * @param contentType with its parameters
 * @param typeOfContent called only when nothing else tells
 */
export async function resolveMimeType(
  contentType: string | undefined,
  path: string,
  typeOfContent: () => Promise<string | undefined> = async () => undefined,
): Promise<string> {
  const essence = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (contentType !== undefined && !GENERIC_TYPES.has(essence)) return contentType
  // Loaded on demand: nothing else that a cold start could load is as large as the table of types.
  const { default: mime } = await import('mime')
  // With the slash it is a path: mime would take a bare "csv" for an extension.
  return mime.getType(`/${path}`) ?? (await typeOfContent()) ?? UNKNOWN_TYPE
}
