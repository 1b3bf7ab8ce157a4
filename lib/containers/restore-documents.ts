import pMap from 'p-map'
import { findDocument } from '../documents/find-document.ts'
import { rowOf, ServiceError } from '../errors.ts'
import { type ContainerId, type FilePath, parseContainerId, type WorkspaceId } from '../ids.ts'
import type { WorkspaceDocument } from '../ledger/ports/documents.ts'
import type { RequestScope } from '../telemetry.ts'
import type { ContainerFileDescription } from './container-files.ts'
import { type RestoreDependencies, restoreDocument } from './restore-document.ts'

export interface DocumentToRestore {
  documentId: string
  /** Where to put it; missing: at the document's filename. */
  path?: FilePath | undefined
}

export interface RestoreRequest extends Pick<RequestScope, 'deadline' | 'log'> {
  workspaceId: WorkspaceId
  containerId: string | undefined
  documents: readonly DocumentToRestore[]
  replaces: boolean
  rateLimitPassed: Promise<unknown>
  /** See `PromotionRequest`. */
  countMore(most: number): Promise<number>
}

/** What came of one document. Its path is missing if there is no such document. */
export interface RestoreOutcome extends DocumentToRestore {
  outcome: 'restored' | 'present' | 'refused'
  file?: ContainerFileDescription
  error?: ServiceError
}

type Found = DocumentToRestore & { document?: WorkspaceDocument; error?: unknown }

const AT_ONCE = 10
/** A file that begins later than this before the deadline would hardly be done. */
const LEAST_WORK_MS = 5000
const GIB = 1024 ** 3

/**
 * Puts documents back into a container, in the order given. Ends before a document that time or the rate limit does not
 * allow, but begins at least the first. May be repeated.
 * @returns at least one outcome; `waiting`: how many requests those count as that the rate limit did not allow
 * @throws ServiceError invalid_container_id; invalid_body: several have the same path
 */
export async function restoreDocuments(request: RestoreRequest, deps: RestoreDependencies) {
  const container = { workspaceId: request.workspaceId, containerId: parseContainerId(request.containerId) }
  await request.rateLimitPassed
  const found = await pMap(request.documents, (each) => find(each, request, deps), { concurrency: AT_ONCE })
  requireDifferentPaths(found)
  const { allowed, waiting } = await countFiles(found, request)
  const restore = (each: Found) => restoreOne(each, container, { isFirst: each === allowed[0] }, request, deps)
  // Each copy in parts needs all connections that there are.
  const isInParts = ({ document }: Found) => document && !deps.containerFileWriter.copiesWhole(document.sizeBytes)
  const { inParts = [], whole = [] } = Object.groupBy(allowed, (each) => (isInParts(each) ? 'inParts' : 'whole'))
  const [slow, fast] = [pMap(inParts, restore, { concurrency: 1 }), pMap(whole, restore, { concurrency: AT_ONCE })]
  const done = new Map([...(await slow), ...(await fast)])
  const outcomes = allowed.map((each) => done.get(each))
  const end = outcomes.indexOf(undefined)
  return { outcomes: (end === -1 ? outcomes : outcomes.slice(0, end)) as RestoreOutcome[], waiting }
}

async function find({ documentId, path }: DocumentToRestore, request: RestoreRequest, deps: RestoreDependencies) {
  try {
    const document = await findDocument({ ...request, documentId }, deps, request.deadline.signal)
    return { documentId, path: path ?? document.filename, document }
  } catch (error) {
    return { documentId, path, error }
  }
}

function requireDifferentPaths(found: readonly Found[]): void {
  const paths = found.flatMap(({ path }) => path ?? [])
  const twice = paths.find((path, index) => paths.indexOf(path) < index)
  if (twice === undefined) return
  const problem = `Several files would have the path ${JSON.stringify(twice)}: give each a path of its own.`
  throw new ServiceError('invalid_body', { detail: `The body is invalid. ${problem}` })
}

/**
 * Each file counts as a request, and so does each further GiB of it: those of the first as far as they fit, so that even
 * the lowest limit allows progress.
 */
async function countFiles(found: readonly Found[], { countMore }: RestoreRequest) {
  const costs = found.map(({ document }) => Math.max(1, Math.ceil((document?.sizeBytes ?? 0) / GIB)))
  const sum = (some: readonly number[]) => some.reduce((total, cost) => total + cost, 0)
  const counted = sum(costs) > 1 ? 1 + (await countMore(sum(costs) - 1)) : 1
  const isOver = costs.findIndex((_, index) => index > 0 && sum(costs.slice(0, index + 1)) > counted)
  const end = isOver === -1 ? found.length : isOver
  return { allowed: found.slice(0, end), waiting: sum(costs.slice(end)) }
}

/** @returns undefined as the outcome: the time did not suffice. What goes wrong is the file's own refusal */
async function restoreOne(
  found: Found,
  container: { workspaceId: WorkspaceId; containerId: ContainerId },
  { isFirst }: { isFirst: boolean },
  request: RestoreRequest,
  deps: RestoreDependencies,
): Promise<[Found, RestoreOutcome | undefined]> {
  const { document, error: notFound, ...one } = found
  const { signal, leftMs } = request.deadline
  const hasTime = () => isFirst || (!signal.aborted && leftMs() >= LEAST_WORK_MS)
  try {
    if (document === undefined || one.path === undefined) throw notFound
    if (!hasTime()) return [found, undefined]
    const { isPresent, file } = await restoreDocument(document, { ...container, path: one.path }, request, deps)
    return [found, { ...one, outcome: isPresent ? 'present' : 'restored', file }]
  } catch (error) {
    const refused = error instanceof ServiceError ? error : new ServiceError('internal_error', { cause: error })
    if (!hasTime() && rowOf(refused).needsTime) return [found, undefined]
    if (refused.status >= 500) request.log.error('a document was not restored', { reason: refused.reason, error })
    return [found, { ...one, outcome: 'refused', error: refused }]
  }
}
