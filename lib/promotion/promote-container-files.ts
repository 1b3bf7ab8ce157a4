import pMap, { pMapSkip } from 'p-map'
import type { ContainerFilesDependencies } from '../containers/container-files.ts'
import { listContainerFiles } from '../containers/list-container-files.ts'
import { findContainerFile } from '../containers/require-container-file.ts'
import { ServiceError } from '../errors.ts'
import { type ContainerId, type FilePath, formatFileId, parseContainerId, parseFileId } from '../ids.ts'
import { ifUnreadable } from '../ledger/ports/unreadable-item.ts'
import { compareBytes } from '../object-keys.ts'
import { documentIdOfFile } from './idempotency.ts'
import { type EarlierDocuments, type FileOutcome, type FoundFile, promoteOneOfMany } from './promote-one-of-many.ts'
import type { PromotionDependencies, PromotionRequest } from './promotion.ts'
import { createRoom, type Room } from './room.ts'

export interface PromotionOfManyRequest extends Omit<PromotionRequest, 'idempotencyKey' | 'fileId'> {
  /** Different paths, or the prefix of all that are meant. */
  files: { paths: readonly FilePath[] } | { prefix: string }
  /** The `next` of another answer, not validated yet. */
  after: string | undefined
}

export type PromotionOfManyDependencies = PromotionDependencies & ContainerFilesDependencies

/** In one request: as many as one BatchGetItem reads. */
export const MOST_FILES = 100
/** Each takes one of a ledger's places (lib/aws/dynamodb/ledger.ts) for milliseconds: other promotions need some, too. */
const AT_ONCE = 10
/** No lookup begins after this: the next request makes the rest, so that this one has time to promote. */
const LOOK_UP_FOR_MS = 5000

/**
 * Promotes many files of a container, in the order of their paths (UTF-8 bytes). A file that has not changed keeps its
 * document, so a repetition makes nothing twice. Ends before a file that time or the rate limit does not allow; what is
 * done by then stays done.
 * @returns `listed`: the outcomes before the first file that was left for lack of time; `outcomes`: those after it, too;
 *   `waiting`: how many files wait for the rate limit; `next`: where the next request goes on, if files are left
 * @throws ServiceError container_not_found; or why no file was done at all
 */
export async function promoteContainerFiles(request: PromotionOfManyRequest, deps: PromotionOfManyDependencies) {
  const containerId = parseContainerId(request.containerId)
  request.telemetry.annotate({ container_id: containerId })
  const { found, next } = await findFiles(containerId, request, deps)
  await request.rateLimitPassed
  const known = await lookUp(found, request, deps)
  const earlier = await findEarlier(known, request, deps)
  const { allowed, waiting } = await countFiles(known, earlier, request)
  const room = createRoom(request.caller.workspaceId, request, deps)
  const outcomes = await promoteEach(allowed, earlier, { ...request, room }, deps)
  const end = outcomes.findIndex(({ outcome }) => outcome === 'left')
  const listed = end === -1 ? outcomes : outcomes.slice(0, end)
  const first = listed[0]
  const last = listed.at(-1)
  if (first && listed.every(({ error }) => error?.reason === 'container_not_found')) throw first.error
  const isCut = last && listed.length < found.length
  const usage = await room.ledger().catch(() => undefined)
  return { outcomes, listed, next: isCut ? formatFileId(last.path) : next, waiting, usage }
}

async function findFiles(
  containerId: ContainerId,
  { caller: { workspaceId }, files, after, deadline: { signal } }: PromotionOfManyRequest,
  deps: PromotionOfManyDependencies,
): Promise<{ found: FoundFile[]; next: string | undefined }> {
  const container = { workspaceId, containerId }
  const located = (path: FilePath) => ({ location: { ...container, path } })
  // A path that is too long with this container refuses the request, before anything is kept.
  for (const path of 'paths' in files ? files.paths : [files.prefix as FilePath]) {
    deps.objectKeys.sandboxFile({ ...container, path })
  }
  if ('paths' in files) {
    const start = after === undefined ? '' : parseFileId(after)
    const left = files.paths.filter((path) => compareBytes(path, start) > 0).toSorted(compareBytes)
    return { found: left.map(located), next: undefined }
  }
  const list = { ...container, prefix: files.prefix, after, limit: MOST_FILES }
  const { items, next } = await listContainerFiles(list, deps, signal)
  const isEmpty = items.length === 0 && next === undefined && after === undefined
  if (isEmpty && !(await deps.objects.hasContainer(deps.objectKeys.containerPrefix(container), signal))) {
    throw new ServiceError('container_not_found', { metadata: { container_id: containerId } })
  }
  return { found: items.map((seen) => ({ ...located(seen.path), seen })), next }
}

/** @returns those that could be looked up in time, at least one */
async function lookUp(
  all: readonly FoundFile[],
  { deadline }: PromotionOfManyRequest,
  deps: PromotionOfManyDependencies,
): Promise<FoundFile[]> {
  const stopAtLeftMs = deadline.leftMs() - LOOK_UP_FOR_MS
  const lookUpOne = async (found: FoundFile): Promise<FoundFile | typeof pMapSkip> => {
    if (found.seen) return found
    if (deadline.leftMs() < stopAtLeftMs) return pMapSkip
    const file = findContainerFile(found.location, deps, deadline.signal)
    return { ...found, file, seen: await file.catch(() => undefined) }
  }
  return pMap(all, lookUpOne, { concurrency: AT_ONCE })
}

/** @returns an empty map if any of them is unreadable: it must not fail the others, so each is then looked up alone */
async function findEarlier(
  known: readonly FoundFile[],
  { caller, deadline }: PromotionOfManyRequest,
  { documents }: PromotionOfManyDependencies,
): Promise<EarlierDocuments> {
  const ids = known.flatMap(({ location, seen }) => (seen ? documentIdOfFile(location, seen.etag) : []))
  const found = await documents.findAll(caller.workspaceId, ids, deadline.signal).catch(ifUnreadable(undefined))
  return new Map(found && ids.map((id) => [id, found.find(({ documentId }) => documentId === id)]))
}

/**
 * The request pays for the look, for all files that are kept as they are, and for one other, so that even the lowest
 * limit allows progress. Each further file counts, whether it is promoted, refused, or kept for longer.
 */
async function countFiles(
  known: readonly FoundFile[],
  earlier: EarlierDocuments,
  { countMore }: PromotionOfManyRequest,
) {
  const isKept = ({ location, seen }: FoundFile) => {
    const item = seen && earlier.get(documentIdOfFile(location, seen.etag))
    return item?.state === 'ready' && item.expiresAt === undefined
  }
  const others = known.filter((found) => !isKept(found))
  const counted = others.length > 1 ? 1 + (await countMore(others.length - 1)) : others.length
  const next = others[counted]
  return { allowed: next ? known.slice(0, known.indexOf(next)) : known, waiting: others.length - counted }
}

async function promoteEach(
  files: readonly FoundFile[],
  earlier: EarlierDocuments,
  request: PromotionOfManyRequest & { room: Room },
  deps: PromotionOfManyDependencies,
): Promise<FileOutcome[]> {
  const promote = (found: FoundFile) => promoteOneOfMany(found, { earlier, isFirst: found === files[0] }, request, deps)
  // Each copy in parts needs all connections that there are.
  const isInParts = ({ seen }: FoundFile) => seen !== undefined && !deps.objects.copiesWhole(seen.sizeBytes)
  const { inParts = [], whole = [] } = Object.groupBy(files, (found) => (isInParts(found) ? 'inParts' : 'whole'))
  const done = await Promise.all([
    pMap(inParts, promote, { concurrency: 1 }),
    pMap(whole, promote, { concurrency: AT_ONCE }),
  ])
  return done.flat().toSorted((one, other) => compareBytes(one.path, other.path))
}
