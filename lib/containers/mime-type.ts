import { essenceOf, knownType, UNKNOWN_TYPE } from '../files/media-type.ts'
import type { ContainerFile } from './container-files.ts'

/** Types of compressed files, with their extensions: many tools give the type of what is inside instead. */
const COMPRESSED: Record<string, string> = {
  'application/gzip': 'gz tgz taz svgz',
  'application/x-bzip2': 'bz2 tbz tbz2',
  'application/x-xz': 'xz txz',
  'application/zstd': 'zst',
}
/** Types that the table lacks. */
const NAMED: Record<string, string> = { 'application/jsonl': 'jsonl', 'application/x-ndjson': 'ndjson' }
/**
 * Extensions that mean text wherever code runs or research is done, but other formats in tables of types (ours,
 * Debian's, freedesktop.org's): TypeScript is video there, Rust XML, Mermaid karaoke, a public key a brochure.
 */
const MEANS_TEXT = `ac adp arc as asc asn ass b bat bed cil cl clp cmp com cu cw dis dna dot dts exp fbs fnc frm fst gb gbr
  geo gml gmx gpt ice ink inp ins itp jam key ks m ma mag me mif mm mmd mo mod moo mpl mrc ms msf msg mts nc nim nml nsh
  orc org p8 pat pdb pgp pic plb pls pml pot prc pre prf psf pt pub pwn qs raw rd rep res rl rs sam sc scd sci scm sco
  sdc seed sig slt sls smi smk sml snap spc src sru st str sub svd sw t tap td tpl ts tsp tst vb vcf vhd ws xm`
/** Types of plain text and code, but not the other text formats that share these extensions. */
const TEXT = /^text\/(?!troff|vnd\.|(x-)?vcard)/i
/** Types in those tables, and in Windows's, that the extension hardly ever means. */
const GUESS =
  /^([ct]sv application\/vnd\.ms-excel|obj application\/x-tgif|orc audio\/csound|pt application\/vnd\.snesdev.+)$/
/** A type found in the content that stands for many formats, and another that may be one of them. */
const TELLS_LESS = /^application\/(zip |x-cfb |octet-stream |xml .+\+xml$)/

/**
 * Takes what the extension of a compressed file says; else the Content-Type that the container stored, if it says
 * anything and is no guess; else the extension's type; else the content's. Where the extension may mean text, the content
 * comes before all types but those of text.
 * @param typeOfContent called only when nothing else tells
 */
export async function resolveMimeType(
  { contentType, contentEncoding }: Pick<ContainerFile, 'contentType' | 'contentEncoding'>,
  path: string,
  typeOfContent: () => Promise<string | undefined> = async () => undefined,
): Promise<string> {
  const extension = /[^/]\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
  const compressed = contentEncoding ? undefined : typeIn(COMPRESSED, extension)
  if (compressed) return compressed
  const mayBeText = isIn(MEANS_TEXT, extension)
  const isSure = (type: string) => !mayBeText || TEXT.test(type)
  const stored = GUESS.test(`${extension} ${essenceOf(contentType)}`) ? undefined : knownType(contentType)
  if (stored && isSure(stored)) return stored
  // Loaded on demand: nothing else that a cold start could load is as large as the table of types.
  const { default: mime } = await import('mime')
  const named = typeIn(NAMED, extension) ?? knownType(mime.getType(extension) ?? undefined)
  if (named && isSure(named)) return named
  // Encoded bytes show their encoding only.
  const found = contentEncoding ? undefined : await typeOfContent()
  if (found === undefined) return stored ?? (mayBeText ? 'text/plain' : UNKNOWN_TYPE)
  const other = stored ?? named ?? found
  return TELLS_LESS.test(`${found} ${other}`) ? other : found
}

const typeIn = (table: Record<string, string>, extension: string) =>
  Object.keys(table).find((type) => isIn(table[type], extension))

const isIn = (extensions: string | undefined, extension: string) =>
  extensions?.split(/\s+/).includes(extension) ?? false
