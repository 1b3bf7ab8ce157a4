import pMap from 'p-map'
import type { ContainerFiles } from '../containers/container-files.ts'
import { listContainerFiles } from '../containers/list-container-files.ts'
import { findContainerFile } from '../containers/require-container-file.ts'
import { ServiceError } from '../errors.ts'
import {
  type ContainerId,
  type DocumentId,
  type FilePath,
  formatFileId,
  parseContainerId,
  parseFileId,
} from '../ids.ts'
import type { DeletedDocument, WorkspaceDocument } from '../ledger/ports/document-records.ts'
import type { StorageUsage } from '../ledger/ports/quota-ledger.ts'
import { UnreadableItemError } from '../ledger/ports/unreadable-item.ts'
import { compareBytes } from '../object-keys.ts'
import { documentIdOfFile } from './idempotency.ts'
import { type FileOutcome, type FoundFile, LEAST_WORK_MS, promoteOneOfMany } from './promote-one-of-many.ts'
import type { AttemptRequest, PromotionDependencies } from './promotion.ts'

export interface PromotionOfManyRequest extends Omit<AttemptRequest, 'idempotencyKey'> {
  /** Not validated yet. */
  containerId: string | undefined
  /** Different paths, or the prefix of all that are meant. */
  files: { paths: readonly FilePath[] } | { prefix: string }
  /** The `next` of another answer, not validated yet. */
  after: string | undefined
  rateLimitPassed: Promise<unknown>
  /** Counts up to so many files besides the request. @returns how many the rate limit allows */
  countFiles(most: number): Promise<number>
}

export interface PromotionOfManyDependencies extends PromotionDependencies {
  containerFiles: ContainerFiles
  /** Larger files are copied in parts. */
  multipartThresholdBytes: number
}

/** In one request. */
export const MOST_FILES = 500
/** Files between two counts of the rate limit: as many as one BatchGetItem reads. */
const CHUNK = 100
/** Half of the takings that a ledger holds (lib/aws/dynamodb/ledger-update.ts): other promotions need places, too. */
const concurrency = 10
/** The list is what was found within this time. */
const LISTING_MS = 4500

/**
 * Promotes many files of a container, in the order of their paths (UTF-8 bytes). A file that has not changed keeps its
 * document, so a repetition makes nothing twice. Ends before a file for which time or rate limit do not suffice; what
 * was done until then is done.
 * @returns `next`: what another request comes after; undefined when this was all. `behind`: what was done of files that
 *   come after it, which the next request answers with
 * @throws ServiceError if no file was done
 */
export async function promoteContainerFiles(
  request: PromotionOfManyRequest,
  deps: PromotionOfManyDependencies,
): Promise<{
  outcomes: FileOutcome[]
  behind: FileOutcome[]
  next: string | undefined
  usage: StorageUsage | undefined
}> {
  const containerId = parseContainerId(request.containerId)
  request.telemetry.annotate({ container_id: containerId })
  const { found, next } = await findFiles(containerId, request, deps)
  await request.rateLimitPassed
  const outcomes: FileOutcome[] = []
  const behind: FileOutcome[] = []
  for (let isEnded = false; !isEnded && outcomes.length < found.length; ) {
    // What is counted now would be counted again by the next request.
    if (outcomes.length > 0 && request.deadline.leftMs() < LEAST_WORK_MS) break
    const wanted = Math.min(CHUNK, found.length - outcomes.length)
    // The request was counted as the first of them.
    const counted = outcomes.length === 0 ? 1 : 0
    const allowed = counted + (wanted > counted ? await request.countFiles(wanted - counted) : 0)
    const chunk = found.slice(outcomes.length, outcomes.length + allowed)
    const done = await promoteChunk(chunk, counted === 1, request, deps).catch((error) => {
      if (outcomes.length === 0) throw error
      request.log.warn('the rest was left to the next request', { error })
      return [undefined]
    })
    const end = done.includes(undefined) ? done.indexOf(undefined) : done.length
    outcomes.push(...done.slice(0, end).filter(isDone))
    behind.push(...done.slice(end).filter(isDone))
    isEnded = end < done.length || allowed === 0
  }
  const [first, last] = [outcomes[0], outcomes.at(-1)]
  if (first && outcomes.every(({ error }) => error?.reason === 'container_not_found')) throw first.error
  return {
    outcomes,
    behind,
    next: last && outcomes.length < found.length ? formatFileId(last.path) : next,
    usage: await usageAfter([...outcomes, ...behind], request, deps),
  }
}

async function findFiles(
  containerId: ContainerId,
  { caller: { workspaceId }, files, after, deadline }: PromotionOfManyRequest,
  deps: PromotionOfManyDependencies,
): Promise<{ found: FoundFile[]; next: string | undefined }> {
  const container = { workspaceId, containerId }
  const located = (path: FilePath, etag?: string) => ({ location: { ...container, path }, etag })
  if ('paths' in files) {
    // A path that is too long with this container refuses the request, before anything is kept.
    for (const path of files.paths) deps.objectKeys.sandboxFile({ ...container, path })
    const start = after === undefined ? '' : parseFileId(after)
    const left = files.paths.filter((path) => compareBytes(path, start) > 0).toSorted(compareBytes)
    return { found: left.map((path) => located(path)), next: undefined }
  }
  // As with paths: no key is as long as this prefix.
  if (files.prefix !== '') deps.objectKeys.sandboxFile({ ...container, path: files.prefix as FilePath })
  const signal = AbortSignal.any([deadline.signal, AbortSignal.timeout(LISTING_MS)])
  const list = { ...container, prefix: files.prefix, after, limit: MOST_FILES }
  const { items, next } = await listContainerFiles(list, deps, signal)
  const isEmpty = items.length === 0 && next === undefined && after === undefined
  if (isEmpty && !(await deps.objects.hasContainer(deps.objectKeys.containerPrefix(container), signal))) {
    throw new ServiceError('container_not_found', { metadata: { container_id: containerId } })
  }
  return { found: items.map(({ path, etag }) => located(path, etag)), next }
}

/** @returns undefined for those for which the time did not suffice */
async function promoteChunk(
  chunk: readonly FoundFile[],
  isFirst: boolean,
  request: PromotionOfManyRequest,
  deps: PromotionOfManyDependencies,
): Promise<(FileOutcome | undefined)[]> {
  const { deadline } = request
  const lookUp = async (found: FoundFile): Promise<FoundFile> => {
    if (found.etag !== undefined) return found
    return findContainerFile(found.location, deps, deadline.signal).then(
      (file) => ({ ...found, file, etag: file.etag }),
      (failure) => ({ ...found, failure }),
    )
  }
  const known = await pMap(chunk, lookUp, { concurrency })
  const idOf = ({ location, etag }: FoundFile) => etag && documentIdOfFile(location, etag)
  const ids = known.flatMap((found) => idOf(found) || [])
  const documents = ids.length > 0 ? await findEarlier(ids, request, deps) : []
  const earlier = new Map<string | undefined, Earlier>(documents?.map((each) => [each.documentId, each]))
  // Copies in parts need all connections there are: after the first file they are made one after the other.
  let last: Promise<unknown> | undefined
  const promote = (found: FoundFile, index: number) => {
    const takeTurn = <Result>(sizeBytes: number, copy: () => Promise<Result>): Promise<Result> => {
      if (index === 0 || sizeBytes <= deps.multipartThresholdBytes) return copy()
      const turn = Promise.resolve(last).then(copy, copy)
      last = turn
      return turn
    }
    const ofChunk = { hasLookedForEarlier: documents !== undefined, isFirst: isFirst && index === 0, takeTurn }
    const one = { ...found, ...ofChunk, earlier: earlier.get(idOf(found)) }
    const outcome = promoteOneOfMany(one, request, deps)
    last ??= outcome
    return outcome
  }
  return pMap(known, promote, { concurrency })
}

type Earlier = WorkspaceDocument | DeletedDocument

/** @returns undefined when one of them cannot be read: it is not to refuse the others, so each is looked for by itself */
async function findEarlier(
  ids: readonly DocumentId[],
  { caller, deadline }: PromotionOfManyRequest,
  { documents }: PromotionOfManyDependencies,
): Promise<Earlier[] | undefined> {
  try {
    return await documents.findAllEvenDeleted(caller.workspaceId, ids, deadline.signal)
  } catch (error) {
    if (error instanceof UnreadableItemError) return undefined
    throw error
  }
}

const isDone = (outcome: FileOutcome | undefined) => outcome !== undefined

async function usageAfter(
  outcomes: readonly FileOutcome[],
  { caller, deadline, log }: PromotionOfManyRequest,
  { quota }: PromotionOfManyDependencies,
): Promise<StorageUsage | undefined> {
  const versionOf = ({ document }: FileOutcome) => document?.countedFrom ?? 0
  const [last] = outcomes.filter(({ usage }) => usage).toSorted((a, b) => versionOf(b) - versionOf(a))
  if (last) return last.usage
  return quota.usage(caller.workspaceId, deadline.signal).catch((error) => {
    log.warn('storage usage not read, files answered without it', { error })
    return undefined
  })
}
