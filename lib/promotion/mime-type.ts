const UNKNOWN_TYPE = 'application/octet-stream'
/** Defaults of S3 and its clients: they say nothing about the file. */
const GENERIC_TYPES = new Set(['', 'binary/octet-stream', UNKNOWN_TYPE])

/**
 * The media type of a document: what the container stored, unless that says nothing; then by the file's extension; then, for
 * whoever cares, by how the file begins.
 * @param contentType the Content-Type of the container file, parameters included
 * @param typeOfContent looks into the file, only where nothing else tells
 */
export async function resolveMimeType(
  contentType: string | undefined,
  path: string,
  typeOfContent: () => Promise<string | undefined> = async () => undefined,
): Promise<string> {
  const essence = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (contentType !== undefined && !GENERIC_TYPES.has(essence)) return contentType
  // Loaded on demand: the table of types is the largest thing that a cold start would read.
  const { default: mime } = await import('mime')
  // With the slash it is a path: mime would take a bare "csv" for an extension.
  return mime.getType(`/${path}`) ?? (await typeOfContent()) ?? UNKNOWN_TYPE
}
