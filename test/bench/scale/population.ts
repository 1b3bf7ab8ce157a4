import type { AttemptId, DocumentId, WorkspaceId } from '../../../lib/ids.ts'

/** What is wrong with a workspace, so that the audit has something to find. */
export type Plant =
  /** The ledger counts other bytes than the documents have. */
  | { kind: 'drift' }
  /** Documents and objects are there, and no ledger. */
  | { kind: 'without_ledger' }
  | {
      kind: 'document_without_object' | 'object_without_document' | 'wrong_size' | 'unlisted_document'
      document: number
    }
  /** An upload that nobody will complete. */
  | { kind: 'old_upload'; document: number }
  /** A reservation whose process died hours ago, and whose workspace is in no index. */
  | { kind: 'expired_reservation' }

/**
 * Workspaces and documents that are computed from their numbers. A workspace's number is its place among all ids in their
 * order, which is that of S3's listings; DynamoDB scans them in another one, that of their hashes.
 */
export interface Population {
  workspaces: number
  /** How many documents a workspace has. */
  documentsIn(workspace: number): number
  plants: ReadonlyMap<number, Plant>
}

export interface DocumentNames {
  documentId: DocumentId
  attemptId: AttemptId
  objectKey: string
}

export const QUOTA_BYTES = 2 ** 45
/** All documents were recorded on this day. */
const CREATED = '2026-10-01T12:00:00.000Z'
const WORKSPACE_PREFIX = 'ws_00000000-0000-7000-8000-'
const WORKSPACE_DIGITS = 12
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** As the first digits of a UUIDv7 of these years. */
const ATTEMPT_PREFIX = '1BmxK9F5'
const ATTEMPT_DIGITS = { workspace: 6, document: 8 }

/** @param documentsIn an average; the number of one workspace is between nothing and twice of it */
export function createPopulation({
  workspaces,
  documentsIn,
  plants = new Map(),
}: {
  workspaces: number
  documentsIn(workspace: number): number
  plants?: ReadonlyMap<number, Plant>
}): Population {
  return { workspaces, documentsIn, plants }
}

export function workspaceIdOf(workspace: number): WorkspaceId {
  return (WORKSPACE_PREFIX + String(workspace).padStart(WORKSPACE_DIGITS, '0')) as WorkspaceId
}

/** @returns undefined for an id that is none of the population's */
export function workspaceOf(id: string, { workspaces }: Population): number | undefined {
  if (!id.startsWith(WORKSPACE_PREFIX)) return undefined
  const workspace = Number(id.slice(WORKSPACE_PREFIX.length))
  return Number.isInteger(workspace) && workspace < workspaces ? workspace : undefined
}

export function namesOf(workspace: number, document: number): DocumentNames {
  const attemptId = attemptIdOf(workspace, document)
  const documentId = `file_${attemptId}` as DocumentId
  return { documentId, attemptId, objectKey: `documents/${workspaceIdOf(workspace)}/${documentId}/${attemptId}` }
}

export function attemptIdOf(workspace: number, document: number): AttemptId {
  const digits = base58(workspace, ATTEMPT_DIGITS.workspace) + base58(document, ATTEMPT_DIGITS.document)
  return (ATTEMPT_PREFIX + digits) as AttemptId
}

/** The number of a document of the workspace whose id is this one or, where there is none, the next behind it. */
export function documentFrom(id: string, workspace: number): number {
  const first = namesOf(workspace, 0).documentId
  const digits = first.length - ATTEMPT_DIGITS.document
  if (id.slice(0, digits) !== first.slice(0, digits)) return id < first ? 0 : Number.POSITIVE_INFINITY
  let document = 0
  for (const digit of id.slice(digits, digits + ATTEMPT_DIGITS.document)) {
    document = document * BASE58.length + Math.max(0, BASE58.indexOf(digit))
  }
  return namesOf(workspace, document).documentId < id ? document + 1 : document
}

/** Bytes of a document: not all the same, so that a wrong sum is seen. */
export function sizeOf(workspace: number, document: number): number {
  return 1000 + ((workspace * 31 + document * 17) % 9000)
}

/** The bytes of all documents of a workspace as they are recorded. */
export function bytesIn(workspace: number, population: Population): number {
  let bytes = 0
  for (let document = 0; document < population.documentsIn(workspace); document++) {
    if (hasRecord(workspace, document, population)) bytes += sizeOf(workspace, document)
  }
  return bytes
}

export function hasRecord(workspace: number, document: number, { plants }: Population): boolean {
  const plant = plants.get(workspace)
  return !(plant?.kind === 'object_without_document' && plant.document === document)
}

export function hasObject(workspace: number, document: number, { plants }: Population): boolean {
  const plant = plants.get(workspace)
  return !(plant?.kind === 'document_without_object' && plant.document === document)
}

/** An item of the Documents table as JSON, written by hand: there are a billion of them. */
export function documentJson(workspace: number, document: number, { plants }: Population): string {
  const { documentId, attemptId, objectKey } = namesOf(workspace, document)
  const plant = plants.get(workspace)
  const listed =
    plant?.kind === 'unlisted_document' && plant.document === document
      ? ''
      : `,"listed_at":{"S":"${CREATED} ${documentId}"}`
  return (
    `{"workspace_id":{"S":"${workspaceIdOf(workspace)}"},"document_id":{"S":"${documentId}"},` +
    `"record_kind":{"S":"document"},"attempt_id":{"S":"${attemptId}"},"object_key":{"S":"${objectKey}"},` +
    `"filename":{"S":"output/report-${document}.csv"},"mime_type":{"S":"text/csv"},` +
    `"size_bytes":{"N":"${sizeOf(workspace, document)}"},"created_at":{"S":"${CREATED}"},` +
    `"container_id":{"S":"sess_demo-r4k2"},"created_by":{"S":"key_0190a1b2"}${listed}}`
  )
}

/**
 * The order of a table's scan: a permutation, so that it is not that of the ids. `at` tells whose turn is at a place,
 * `placeOf` is its inverse.
 */
export function scanOrder(count: number): { at(place: number): number; placeOf(number: number): number } {
  const step = coprimeStep(count)
  const back = inverse(step, count)
  const multiply = (one: number, other: number) => Number((BigInt(one) * BigInt(other)) % BigInt(Math.max(1, count)))
  return { at: (place) => multiply(place, step), placeOf: (number) => multiply(number, back) }
}

/** Near the golden section of the count, so that neighbours come far apart. */
function coprimeStep(count: number): number {
  let step = Math.max(1, Math.round(count * 0.618))
  while (divisor(step, count) !== 1) step++
  return step
}

function divisor(one: number, other: number): number {
  return other === 0 ? one : divisor(other, one % other)
}

/** By Euclid's algorithm. */
function inverse(step: number, count: number): number {
  let [remainder, next, factor, nextFactor] = [count, step, 0, 1]
  while (next !== 0) {
    const quotient = Math.floor(remainder / next)
    ;[remainder, next] = [next, remainder - quotient * next]
    ;[factor, nextFactor] = [nextFactor, factor - quotient * nextFactor]
  }
  return ((factor % count) + count) % count
}

function base58(number: number, digits: number): string {
  let text = ''
  for (let rest = number; text.length < digits; rest = Math.floor(rest / BASE58.length)) {
    text = (BASE58[rest % BASE58.length] ?? '') + text
  }
  return text
}
