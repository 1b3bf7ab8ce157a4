import pMap from 'p-map'
import type { ContainerFile, ContainerFiles } from '../containers/container-files.ts'
import { listContainerFiles } from '../containers/list-container-files.ts'
import { findContainerFile } from '../containers/require-container-file.ts'
import { ServiceError } from '../errors.ts'
import { type ContainerId, type FilePath, formatFileId, parseContainerId, parseFileId } from '../ids.ts'
import type { StorageUsage } from '../ledger/ports/quota-ledger.ts'
import { documentIdOfFile } from './idempotency.ts'
import { type FileOutcome, promoteOneOfMany } from './promote-one-of-many.ts'
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

export interface PromotionOfMany {
  outcomes: FileOutcome[]
  /** What the next request comes after; undefined when this was all. */
  next: string | undefined
  /** After the last of the promotions; undefined when there was none, and reading it failed. */
  usage: StorageUsage | undefined
}

/** A file that is meant, and what is known of it. */
interface Meant {
  path: FilePath
  etag?: string | undefined
  file?: ContainerFile
  failure?: unknown
}

/** In one request. */
export const MOST_FILES = 500
/** Files between two counts of the rate limit: as many as one BatchGetItem reads. */
const CHUNK = 100
/** Half of the takings that a ledger holds (lib/aws/dynamodb/ledger-update.ts): other promotions need places, too. */
const AT_ONCE = 10
/** The list is what was found within this time. */
const LISTING_MS = 4500

/**
 * Promotes many files of a container, in the order of their paths (UTF-8 bytes). A file that has not changed keeps its
 * document, so a repetition makes nothing twice. Ends before a file for which time or rate limit do not suffice; what
 * was done until then is done.
 * @throws ServiceError if no file was done
 */
export async function promoteContainerFiles(
  request: PromotionOfManyRequest,
  deps: PromotionOfManyDependencies,
): Promise<PromotionOfMany> {
  const containerId = parseContainerId(request.containerId)
  request.telemetry.annotate({ container_id: containerId })
  const { meant, next } = await findMeant(containerId, request, deps)
  await request.rateLimitPassed
  const outcomes: FileOutcome[] = []
  for (let isEnded = false; !isEnded && outcomes.length < meant.length; ) {
    const wanted = Math.min(CHUNK, meant.length - outcomes.length)
    // The request was counted as the first of them.
    const counted = outcomes.length === 0 ? 1 : 0
    const allowed = counted + (wanted > counted ? await request.countFiles(wanted - counted) : 0)
    const chunk = meant.slice(outcomes.length, outcomes.length + allowed)
    const done = await promoteChunk(chunk, { containerId, isFirst: outcomes.length === 0 }, request, deps).catch(
      (error) => {
        if (outcomes.length === 0) throw error
        request.log.warn('the rest was left to the next request', { error })
        return []
      },
    )
    outcomes.push(...done)
    isEnded = done.length < chunk.length || allowed === 0
  }
  requireContainer(outcomes)
  const last = outcomes.at(-1)
  return {
    outcomes,
    next: last && outcomes.length < meant.length ? formatFileId(last.path) : next,
    usage: await usageAfter(outcomes, request, deps),
  }
}

async function findMeant(
  containerId: ContainerId,
  { caller: { workspaceId }, files, after, deadline }: PromotionOfManyRequest,
  deps: PromotionOfManyDependencies,
): Promise<{ meant: Meant[]; next: string | undefined }> {
  const container = { workspaceId, containerId }
  if ('paths' in files) {
    // A path that is too long with this container refuses the request, before anything is kept.
    for (const path of files.paths) deps.objectKeys.sandboxFile({ ...container, path })
    const paths = files.paths.toSorted(compareBytes)
    const start = after === undefined ? undefined : parseFileId(after)
    const left = start === undefined ? paths : paths.filter((path) => compareBytes(path, start) > 0)
    return { meant: left.map((path) => ({ path })), next: undefined }
  }
  const signal = AbortSignal.any([deadline.signal, AbortSignal.timeout(LISTING_MS)])
  const list = { ...container, prefix: files.prefix, after, limit: MOST_FILES }
  const { items, next } = await listContainerFiles(list, deps, signal)
  const isEmpty = items.length === 0 && next === undefined && after === undefined
  if (isEmpty && !(await deps.objects.hasContainer(deps.objectKeys.containerPrefix(container), deadline.signal))) {
    throw new ServiceError('container_not_found', { metadata: { container_id: containerId } })
  }
  return { meant: items, next }
}

/** @returns the outcomes of the first of them, up to one for which the time did not suffice */
async function promoteChunk(
  chunk: readonly Meant[],
  { containerId, isFirst }: { containerId: ContainerId; isFirst: boolean },
  request: PromotionOfManyRequest,
  deps: PromotionOfManyDependencies,
): Promise<FileOutcome[]> {
  const { workspaceId } = request.caller
  const { signal } = request.deadline
  const lookUp = (path: FilePath) => findContainerFile({ workspaceId, containerId, path }, deps, signal)
  const known = await pMap(
    chunk,
    async (meant): Promise<Meant> => {
      if (meant.etag !== undefined) return meant
      const { path } = meant
      return lookUp(path).then(
        (file) => ({ path, file, etag: file.etag }),
        (failure) => ({ path, failure }),
      )
    },
    { concurrency: AT_ONCE },
  )
  const idOf = (path: FilePath, etag: string) => documentIdOfFile({ workspaceId, containerId, path }, etag)
  const ids = known.flatMap(({ path, etag }) => (etag === undefined ? [] : idOf(path, etag)))
  const found = ids.length === 0 ? [] : await deps.documents.findAllEvenDeleted(workspaceId, ids, signal)
  const earlierOf = new Map(found.map((document) => [document.documentId, document]))

  const takeTurn = createTurns(deps.multipartThresholdBytes)
  const outcomes = await pMap(
    known,
    (meant, index) =>
      takeTurn((waitForTurn) =>
        promoteOneOfMany(
          {
            ...meant,
            target: { workspaceId, containerId, path: meant.path },
            earlier: meant.etag === undefined ? undefined : earlierOf.get(idOf(meant.path, meant.etag)),
            isFirst: isFirst && index === 0,
            waitForTurn,
          },
          request,
          deps,
        ),
      ),
    { concurrency: AT_ONCE },
  )
  const end = outcomes.indexOf(undefined)
  return outcomes.slice(0, end === -1 ? outcomes.length : end).filter((outcome) => outcome !== undefined)
}

/**
 * Copies in parts need all connections there are: they are made one after the other, in order, so that each has as much
 * time as if it were alone.
 */
function createTurns(multipartThresholdBytes: number) {
  let before: Promise<unknown> = Promise.resolve()
  return async <Result>(work: (waitForTurn: (sizeBytes: number) => Promise<unknown>) => Promise<Result>) => {
    const turn = before
    const { promise: decided, resolve: decide } = Promise.withResolvers<unknown>()
    before = Promise.all([turn, decided])
    try {
      return await work(async (sizeBytes) => {
        if (sizeBytes > multipartThresholdBytes) await turn
        else decide(undefined)
      })
    } finally {
      decide(undefined)
    }
  }
}

/** @throws ServiceError container_not_found, if that is all there is to say */
function requireContainer(outcomes: readonly FileOutcome[]): void {
  const [first] = outcomes
  const isMissing = ({ error }: FileOutcome) => error?.reason === 'container_not_found'
  if (first?.error && outcomes.every(isMissing)) {
    throw new ServiceError('container_not_found', {
      metadata: { container_id: String(first.error.metadata.container_id) },
    })
  }
}

async function usageAfter(
  outcomes: readonly FileOutcome[],
  { caller, deadline, log }: PromotionOfManyRequest,
  { quota }: PromotionOfManyDependencies,
): Promise<StorageUsage | undefined> {
  const [last] = outcomes
    .filter(({ usage }) => usage)
    .toSorted((a, b) => (b.document?.countedFrom ?? 0) - (a.document?.countedFrom ?? 0))
  if (last) return last.usage
  return quota.usage(caller.workspaceId, deadline.signal).catch((error) => {
    log.warn('storage usage not read, files answered without it', { error })
    return undefined
  })
}

/** As S3 orders keys. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
