import { essenceOf, knownType, UNKNOWN_TYPE } from '../media-type.ts'

/**
 * Extensions that mean text wherever code runs, but other formats in the table of types: TypeScript (video), Rust and
 * Smalltalk (XML, sailing), Scheme, Scala and C for GPUs (recordings, encrypted containers, conferences), private and
 * public keys (slides, brochures), outlines and graphs (Lotus, Word), templates (PowerPoint, Groove), configure scripts
 * (certificates), batch files (programs), device trees (audio), proteins and genomes (Palm, VNC).
 */
const MEANS_TEXT = /[^/]\.(m?ts|rs|st|scm|sc|cu|key|pub|org|dot|pot|tpl|ac|bat|dts|pdb|bed)$/i
/** These stand for many formats, or for none that is known: the name says more. */
const TELLS_LESS = new Set(['application/zip', 'application/x-cfb', UNKNOWN_TYPE])

/**
 * Takes the Content-Type that the container stored, if it says anything; else the extension's type; else the content's.
 * Where the extension may mean text, the content comes before it.
 * @param contentType with its parameters
 * @param typeOfContent called only when nothing else tells
 */
export async function resolveMimeType(
  contentType: string | undefined,
  path: string,
  typeOfContent: () => Promise<string | undefined> = async () => undefined,
): Promise<string> {
  const stored = knownType(contentType)
  const mayBeText = MEANS_TEXT.test(path)
  if (stored !== undefined && !mayBeText) return stored
  // Loaded on demand: nothing else that a cold start could load is as large as the table of types.
  const { default: mime } = await import('mime')
  // With the slash it is a path: mime would take a bare "csv" for an extension.
  const named = mime.getType(`/${path}`)
  if (!mayBeText) return named ?? (await typeOfContent()) ?? UNKNOWN_TYPE
  // A stored type that equals the table's was chosen by the extension, too.
  if (stored !== undefined && essenceOf(stored) !== named) return stored
  const found = (await typeOfContent()) ?? stored ?? 'text/plain'
  return TELLS_LESS.has(found) && named ? named : found
}
