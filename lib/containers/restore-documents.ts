import pMap from 'p-map'
import { findDocument } from '../documents/find-document.ts'
import { rowOf, ServiceError } from '../errors.ts'
import { type ContainerId, type FilePath, parseContainerId, type WorkspaceId } from '../ids.ts'
import type { WorkspaceDocument } from '../ledger/ports/documents.ts'
import type { RequestScope } from '../telemetry.ts'
import { type RestoreDependencies, type RestoredFile, restoreDocument } from './restore-document.ts'

export interface DocumentToRestore {
  /** Not validated yet. */
  documentId: string
  /** Where to put it; missing: at the document's filename. */
  path?: FilePath | undefined
}

export interface RestoreRequest extends Pick<RequestScope, 'deadline' | 'log'> {
  workspaceId: WorkspaceId
  /** Not validated yet. */
  containerId: string | undefined
  documents: readonly DocumentToRestore[]
  replaces: boolean
  rateLimitPassed: Promise<unknown>
  /** See `PromotionRequest`. */
  countMore(most: number): Promise<number>
  /** The most requests that the rate limit ever allows at once. */
  burst(): Promise<number>
}

/** The outcome for one document: the file, or why it was refused; `left`: time or rate limit did not suffice for it. */
export interface RestoreOutcome extends Partial<RestoredFile> {
  documentId: string
  /** Missing: there is no such document. */
  path: FilePath | undefined
  outcome: 'restored' | 'present' | 'refused' | 'left'
  error?: ServiceError
}

interface Found {
  documentId: string
  path: FilePath | undefined
  document?: WorkspaceDocument
  error?: unknown
}

const AT_ONCE = 10
/** A file that begins later than this before the deadline would hardly be done. */
const LEAST_WORK_MS = 5000
const GIB = 1024 ** 3

/**
 * Puts documents back into a container, in the order given. Ends before a document that time or the rate limit does not
 * allow, but begins at least the first. May be repeated.
 * @returns `outcomes` before the first that was left; `waiting`: what those that the rate limit did not allow count as
 * @throws ServiceError invalid_container_id; invalid_body: several have the same path
 */
export async function restoreDocuments(
  request: RestoreRequest,
  deps: RestoreDependencies,
): Promise<{ outcomes: RestoreOutcome[]; waiting: number }> {
  const container = { workspaceId: request.workspaceId, containerId: parseContainerId(request.containerId) }
  await request.rateLimitPassed
  const found = await pMap(request.documents, (each) => find(each, request, deps), { concurrency: AT_ONCE })
  requireDifferentPaths(found)
  const { allowed, waiting } = await countFiles(found, request)
  const restore = (each: Found) => restoreOne(each, container, { isFirst: each === allowed[0] }, request, deps)
  // Each copy in parts needs all connections that there are, and takes seconds.
  const large = pMap(allowed.filter(isLarge), restore, { concurrency: 1 })
  const small = pMap(
    allowed.filter((each) => !isLarge(each)),
    restore,
    { concurrency: AT_ONCE },
  )
  const done = new Map([...(await large), ...(await small)])
  const outcomes = allowed.flatMap((each) => done.get(each) ?? [])
  const end = outcomes.findIndex(({ outcome }) => outcome === 'left')
  return { outcomes: end === -1 ? outcomes : outcomes.slice(0, end), waiting }
}

/** S3 told no SHA-256 of what was copied in parts. */
const isLarge = ({ document }: Found) => document !== undefined && document.sha256 === undefined

async function find(
  { documentId, path }: DocumentToRestore,
  { workspaceId, deadline }: RestoreRequest,
  deps: RestoreDependencies,
): Promise<Found> {
  try {
    const document = await findDocument({ workspaceId, documentId }, deps, deadline.signal)
    return { documentId, path: path ?? document.filename, document }
  } catch (error) {
    return { documentId, path, error }
  }
}

/** @throws ServiceError invalid_body */
function requireDifferentPaths(found: readonly Found[]): void {
  const paths = found.flatMap(({ path }) => path ?? [])
  const twice = paths.find((path, index) => paths.indexOf(path) < index)
  if (twice === undefined) return
  const detail = `The body is invalid. Several files would have the path ${JSON.stringify(twice)}: give each a path of its own.`
  throw new ServiceError('invalid_body', { detail })
}

/** Each file counts as a request, and so does each further GiB of it. The first needs no more than a whole burst. */
async function countFiles(found: readonly Found[], { countMore, burst }: RestoreRequest) {
  const costs = found.map(({ document }) => Math.max(1, Math.ceil((document?.sizeBytes ?? 0) / GIB)))
  const most = await burst()
  costs[0] = Math.min(costs[0] ?? 1, most)
  const sum = (some: readonly number[]) => some.reduce((total, cost) => total + cost, 0)
  const all = sum(costs)
  const counted = all > 1 ? 1 + (await countMore(all - 1)) : 1
  const isOver = costs.findIndex((_, index) => sum(costs.slice(0, index + 1)) > counted)
  return isOver === -1
    ? { allowed: found, waiting: 0 }
    : { allowed: found.slice(0, isOver), waiting: sum(costs.slice(isOver)) }
}

/** Never rejects: what goes wrong is the file's own refusal. */
async function restoreOne(
  found: Found,
  container: { workspaceId: WorkspaceId; containerId: ContainerId },
  { isFirst }: { isFirst: boolean },
  request: RestoreRequest,
  deps: RestoreDependencies,
): Promise<[Found, RestoreOutcome]> {
  const { documentId, path, document, error: notFound } = found
  const { signal, leftMs } = request.deadline
  const hasTime = () => isFirst || (!signal.aborted && leftMs() >= LEAST_WORK_MS)
  const one = { documentId, path }
  try {
    if (document === undefined || path === undefined) throw notFound
    if (!hasTime()) return [found, { ...one, outcome: 'left' }]
    const restored = await restoreDocument(document, { ...container, path }, request, request, deps)
    return [found, { ...one, outcome: restored.isPresent ? 'present' : 'restored', ...restored }]
  } catch (error) {
    const refused = error instanceof ServiceError ? error : new ServiceError('internal_error', { cause: error })
    if (!hasTime() && rowOf(refused).needsTime) return [found, { ...one, outcome: 'left' }]
    if (refused.status >= 500) request.log.error('a document was not restored', { reason: refused.reason, error })
    return [found, { ...one, outcome: 'refused', error: refused }]
  }
}
