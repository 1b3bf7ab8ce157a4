import { createHash } from 'node:crypto'
import bs58 from 'bs58'
import { v7 as uuidv7 } from 'uuid'
import { ServiceError } from './errors.ts'

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

export type WorkspaceId = Branded<'WorkspaceId'>
export type ContainerId = Branded<'ContainerId'>
/** Path of a file inside its container: relative, with `/` between segments of any Unicode. */
export type FilePath = Branded<'FilePath'>
export type DocumentId = Branded<'DocumentId'>
/** One try at making a document; later ones sort after earlier ones. Each writes an object key of its own. */
export type AttemptId = Branded<'AttemptId'>
/** One try at giving bytes back. */
export type RefundId = Branded<'RefundId'>

/** Safe as a whole segment of an S3 key and as a REST path parameter: nothing in it is ever encoded or decoded. */
const PLAIN_ID = /^[A-Za-z0-9_-]{1,128}$/
const FILE_ID_PREFIX = 'cfile_'
const DOCUMENT_ID_PREFIX = 'file_'
/** Base58. Ours have 128 bits; other versions may have made ids of other lengths. */
const DOCUMENT_ID = /^file_[1-9A-HJ-NP-Za-km-z]{1,64}$/
const BASE64URL = /^[A-Za-z0-9_-]+$/
const ANY_BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/
/** In bytes of UTF-8 (S3 user guide, "Naming Amazon S3 objects"). */
export const MAX_OBJECT_KEY_BYTES = 1024

export const isWorkspaceId = (text: string): text is WorkspaceId => PLAIN_ID.test(text)

/** @throws ServiceError invalid_container_id */
export function parseContainerId(text: string | undefined): ContainerId {
  if (text === undefined || !PLAIN_ID.test(text)) throw new ServiceError('invalid_container_id')
  return text as ContainerId
}

/**
 * One file has exactly one id: padding, other alphabets and other encodings of the same path are refused, and so is
 * every path that could mean another place than it says. Source: docs/decisions/0006-identifiers.md.
 * @throws ServiceError invalid_file_id, its detail naming the problem
 */
export function parseFileId(text: string | undefined): FilePath {
  if (text?.startsWith(DOCUMENT_ID_PREFIX)) {
    refuseFileId('file_id is the id of a document, not of a container file: container file ids start with "cfile_".')
  }
  if (!text?.startsWith(FILE_ID_PREFIX)) refuseFileId()
  const encoded = text.slice(FILE_ID_PREFIX.length)
  const bytes = Buffer.from(encoded, 'base64url')
  if (!BASE64URL.test(encoded) || bytes.toString('base64url') !== encoded) refuseEncoding(encoded)
  return checkPath(decodeUtf8(bytes))
}

function refuseEncoding(encoded: string): never {
  const isBase64url = BASE64URL.test(encoded)
  const bytes = decodeOtherBase64(encoded)
  if (bytes === undefined) {
    refuseFileId(isBase64url ? 'The part after "cfile_" is cut off: no base64url has this length.' : undefined)
  }
  const expected = formatFileId(checkPath(decodeUtf8(bytes)))
  const problem = isBase64url
    ? 'has bits left over in its last character'
    : 'is base64 with padding or in the standard alphabet; it must be base64url without padding'
  const detail = `The part after "cfile_" ${problem}. The id of this path is ${expected}.`
  throw new ServiceError('invalid_file_id', { detail, metadata: { expected_file_id: expected } })
}

/** Decodes what was encoded differently: the standard alphabet, padding, percent-encoding, or bits left over. */
function decodeOtherBase64(text: string): Buffer | undefined {
  try {
    const plain = decodeURIComponent(text)
    return ANY_BASE64.test(plain) && plain.replace(/=/g, '').length % 4 !== 1 ? Buffer.from(plain, 'base64') : undefined
  } catch {
    return undefined
  }
}

/** @returns undefined when no file id can name the object, as with directory markers */
export const filePathOf = (text: string) => (problemInPath(text) === undefined ? (text as FilePath) : undefined)

export const formatFileId = (path: string): string => FILE_ID_PREFIX + Buffer.from(path, 'utf8').toString('base64url')

function decodeUtf8(bytes: Buffer): string {
  try {
    // Dropping a leading U+FEFF would make two ids for one file: ignoreBOM keeps it.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return refuseFileId('The path encoded in file_id is not valid UTF-8.')
  }
}

function checkPath(path: string): FilePath {
  const problem = problemInPath(path)
  if (problem !== undefined) refuseFileId(`The path encoded in file_id ${problem}.`)
  if (Buffer.byteLength(path) > MAX_OBJECT_KEY_BYTES) refusePathLength()
  return path as FilePath
}

/** @returns the end of a sentence about the path; undefined when a file id can name it */
export function problemInPath(path: string): string | undefined {
  if (CONTROL_CHARACTER.test(path)) return 'contains a control character'
  if (path.startsWith('/') || path.endsWith('/')) {
    return 'must be relative and name a file: no "/" at its start or end'
  }
  if (path.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')) {
    return 'contains an empty, "." or ".." segment'
  }
  return undefined
}

function refuseFileId(detail?: string): never {
  throw new ServiceError('invalid_file_id', detail === undefined ? {} : { detail })
}

/** @throws ServiceError invalid_file_id */
export function refusePathLength(): never {
  return refuseFileId('The path is too long to be stored.')
}

export const isDocumentId = (text: string): text is DocumentId => DOCUMENT_ID.test(text)

/** A malformed id is treated like an unknown one. @throws ServiceError document_not_found */
export function parseDocumentId(text: string | undefined): DocumentId {
  if (text !== undefined && isDocumentId(text)) return text
  if (!text?.startsWith(FILE_ID_PREFIX)) throw new ServiceError('document_not_found')
  throw new ServiceError('document_not_found', {
    detail: 'This is the id of a container file, not of a document: ask for it at /containers/{container_id}/files/….',
  })
}

/** The id of a document that only one attempt can make: the attempt's id tells where its object is. */
export const documentIdOfAttempt = (attemptId: AttemptId): DocumentId => (DOCUMENT_ID_PREFIX + attemptId) as DocumentId

/** The id after its prefix: {@link documentIdOfAttempt} makes a document id of it again. */
export const withoutPrefix = (documentId: DocumentId): string => documentId.slice(DOCUMENT_ID_PREFIX.length)

/** 128 bits of the text's SHA-256. These ids have no order. */
export function documentIdFromHash(text: string): DocumentId {
  return (DOCUMENT_ID_PREFIX + bs58.encode(createHash('sha256').update(text).digest().subarray(0, 16))) as DocumentId
}

export const newAttemptId = (): AttemptId => newSortableId() as AttemptId

export const newRefundId = (): RefundId => newSortableId() as RefundId

/** A UUIDv7 in base58, whose digits sort like ASCII; the length stays the same for the next thousands of years. */
const newSortableId = (): string => bs58.encode(uuidv7(undefined, new Uint8Array(16)))
