import pMap, { pMapSkip } from 'p-map'
import type { ContainerFiles } from '../containers/container-files.ts'
import { listContainerFiles } from '../containers/list-container-files.ts'
import { findContainerFile } from '../containers/require-container-file.ts'
import { ServiceError } from '../errors.ts'
import { type ContainerId, type FilePath, formatFileId, parseContainerId, parseFileId } from '../ids.ts'
import type { StorageUsage } from '../ledger/ports/ledger.ts'
import { UnreadableItemError } from '../ledger/ports/unreadable-item.ts'
import { compareBytes } from '../object-keys.ts'
import { documentIdOfFile } from './idempotency.ts'
import {
  type EarlierDocuments,
  type FileOutcome,
  type FoundFile,
  LEAST_WORK_MS,
  promoteOneOfMany,
} from './promote-one-of-many.ts'
import type { PromotionDependencies, PromotionRequest, Room } from './promotion.ts'
import { createRoom } from './room.ts'

export interface PromotionOfManyRequest extends Omit<PromotionRequest, 'idempotencyKey' | 'fileId' | 'beginWait'> {
  /** Different paths, or the prefix of all that are meant. */
  files: { paths: readonly FilePath[] } | { prefix: string }
  /** The `next` of another answer, not validated yet. */
  after: string | undefined
  /** Counts up to so many files besides the request, which counts as one. @returns how many the rate limit allows */
  countMore(most: number): Promise<number>
}

export interface PromotionOfManyDependencies extends PromotionDependencies {
  containerFiles: ContainerFiles
}

/** In one request. */
export const MOST_FILES = 500
/** Files between two counts of the rate limit: as many as one BatchGetItem reads. */
const CHUNK = 100
/** Each holds one of a ledger's takings (lib/aws/dynamodb/ledger.ts) for milliseconds: other promotions need places, too. */
const concurrency = 10
/** For as long, lookups of a chunk begin; the rest is left to the next one, so that slow ones leave time to promote. */
const LOOK_UP_FOR_MS = 5000

/**
 * Promotes many files of a container, in the order of their paths (UTF-8 bytes). A file that has not changed keeps its
 * document, so a repetition makes nothing twice. Ends before a file for which time or rate limit do not suffice; what
 * was done until then is done.
 * @returns `listed`: what was done up to there; the next request answers with what else was. `next`: what that comes
 *   after; undefined when this was all
 * @throws ServiceError if no file was done
 */
export async function promoteContainerFiles(
  request: PromotionOfManyRequest,
  deps: PromotionOfManyDependencies,
): Promise<{ done: FileOutcome[]; listed: FileOutcome[]; next: string | undefined; usage: StorageUsage | undefined }> {
  const containerId = parseContainerId(request.containerId)
  request.telemetry.annotate({ container_id: containerId })
  const { found, next } = await findFiles(containerId, request, deps)
  await request.rateLimitPassed
  const room = createRoom(request.caller.workspaceId, request, deps)
  const outcomes: (FileOutcome | undefined)[] = []
  for (let counted = 1; outcomes.length < found.length && !outcomes.includes(undefined); ) {
    // Files that are counted now would be counted again by the next request.
    if (outcomes.length > 0 && request.deadline.leftMs() < LEAST_WORK_MS) break
    const wanted = Math.min(outcomes.length + CHUNK, found.length)
    if (wanted > counted && counted - outcomes.length < 2) counted += await request.countMore(wanted - counted)
    const chunk = found.slice(outcomes.length, counted)
    if (chunk.length === 0) break
    const done = await promoteChunk(chunk, outcomes.length === 0, { ...request, room }, deps).catch((error) => {
      if (outcomes.length === 0) throw error
      request.log.warn('the rest was left to the next request', { error })
      return [undefined]
    })
    outcomes.push(...done)
  }
  const done = outcomes.filter((each) => each !== undefined)
  const listed = outcomes.includes(undefined) ? done.slice(0, outcomes.indexOf(undefined)) : done
  const [first, last] = [listed[0], listed.at(-1)]
  if (first && listed.every(({ error }) => error?.reason === 'container_not_found')) throw first.error
  const isCut = last && listed.length < found.length
  const usage = await room.ledger().catch(() => undefined)
  return { done, listed, next: isCut ? formatFileId(last.path) : next, usage }
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

/** @returns the outcomes of those that were looked up; undefined where the time did not suffice */
async function promoteChunk(
  chunk: readonly FoundFile[],
  isFirst: boolean,
  request: PromotionOfManyRequest & { room: Room },
  deps: PromotionOfManyDependencies,
): Promise<(FileOutcome | undefined)[]> {
  const lookUpUntilMs = request.deadline.leftMs() - LOOK_UP_FOR_MS
  const lookUp = async (found: FoundFile): Promise<FoundFile | typeof pMapSkip> => {
    if (found.seen) return found
    if (request.deadline.leftMs() < lookUpUntilMs) return pMapSkip
    const file = findContainerFile(found.location, deps, request.deadline.signal)
    return { ...found, file, seen: await file.catch(() => undefined) }
  }
  const known = await pMap(chunk, lookUp, { concurrency })
  const earlier = await findEarlier(known, request, deps)
  const outcomes = new Map<FoundFile, FileOutcome | undefined>()
  const promote = async (found: FoundFile) => {
    const ofChunk = { earlier, isFirst: isFirst && found === known[0] }
    outcomes.set(found, await promoteOneOfMany(found, ofChunk, request, deps))
  }
  // Each copy in parts needs all connections that there are.
  const isInParts = ({ seen }: FoundFile) => seen !== undefined && !deps.objects.copiesWhole(seen.sizeBytes)
  const [inParts, whole] = [known.filter(isInParts), known.filter((found) => !isInParts(found))]
  await Promise.all([pMap(inParts, promote, { concurrency: 1 }), pMap(whole, promote, { concurrency })])
  return known.map((found) => outcomes.get(found))
}

/** @returns none when one of them cannot be read: it is not to refuse the others, so each is looked for by itself */
async function findEarlier(
  known: readonly FoundFile[],
  { caller, deadline }: PromotionOfManyRequest,
  { documents }: PromotionOfManyDependencies,
): Promise<EarlierDocuments> {
  const ids = known.flatMap(({ location, seen }) => (seen ? documentIdOfFile(location, seen.etag) : []))
  try {
    const found = await documents.findAll(caller.workspaceId, ids, deadline.signal)
    return new Map(ids.map((id) => [id, found.find(({ documentId }) => documentId === id)]))
  } catch (error) {
    if (error instanceof UnreadableItemError) return new Map()
    throw error
  }
}
