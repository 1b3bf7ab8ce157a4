import {
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type ObjectVersion,
} from '@aws-sdk/client-s3'
import pMap from 'p-map'
import type { StoredItem } from '../../../lib/audit/ports/document-maintenance.ts'
import { CLOSING, send } from '../../../lib/aws/calls/send.ts'
import { TOMBSTONE_SECONDS } from '../../../lib/aws/dynamodb/documents.ts'
import { decodeKey } from '../../../lib/aws/s3/container-files.ts'
import { objects as openObjects } from '../../../lib/aws/stores.ts'
import { ServiceError } from '../../../lib/errors.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { keysOfWorkspace } from '../../../lib/object-keys.ts'
import { CommandError } from '../command-error.ts'
import type { Stores } from '../connect.ts'
import type { Session } from '../session.ts'
import { counted, exactBytes, time } from '../terminal/output.ts'

/** One by one is as fast as a thousand in a request, takes keys that no XML can name, and says which was refused. */
const AT_ONCE = { concurrency: 24 }
const PATIENT = { ...CLOSING, requestTimeoutMs: 30_000 }

/**
 * Finds all that the buckets have of a workspace.
 * @param until deletes what is older, and reports on each bucket; undefined: deletes nothing
 */
export async function sweepBuckets(
  until: Date | undefined,
  workspaceId: WorkspaceId,
  stores: Stores,
  session: Session,
) {
  const { documentsBucket, sandboxBucket, keyTemplates } = stores.config
  const { output, signal } = session
  const sum = { all: 0, texts: [] as string[], refusals: [] as string[] }
  await sweep(documentsBucket, keyTemplates.document)
  await sweep(sandboxBucket, keyTemplates.sandbox)
  return sum

  async function sweep(bucket: string, template: string): Promise<void> {
    const { prefix, owns } = keysOfWorkspace(template, workspaceId)
    const objects = openObjects({ ...stores, config: { ...stores.config, documentsBucket: bucket } })
    const found = { versions: 0, versionBytes: 0, unfinishedUploads: 0 }
    // Uploads first: one that is completed meanwhile leaves an object, which is deleted next.
    for await (const { objectKey } of objects.listUploads(prefix, signal)) {
      if (!owns(objectKey)) continue
      if (until) await objects.abortUploads(objectKey, signal)
      found.unfinishedUploads++
    }
    const visit = async (version: ObjectVersion) => {
      if (until && !(await remove(bucket, version))) return
      found.versions++
      found.versionBytes += version.Size ?? 0
    }
    for await (const page of pagesOfVersions(bucket, prefix)) {
      const own = page.filter(({ Key = '' }) => owns(Key))
      await pMap(own, visit, AT_ONCE)
      output.progress(`${found.versions} versions of objects ${until ? 'deleted' : 'found'} in ${bucket}`)
    }
    const { versions, versionBytes, unfinishedUploads } = found
    const text = `${counted(versions, 'version')} of objects (${exactBytes(versionBytes)}) and ${counted(unfinishedUploads, 'unfinished upload')} in ${bucket}`
    if (until) output.done(`Erased ${text}.`, { workspaceId, bucket, ...found })
    sum.all += versions + unfinishedUploads
    sum.texts.push(text)
  }

  /** Also delete markers. In a bucket without versions, each object is one with the id "null". */
  async function* pagesOfVersions(Bucket: string, Prefix: string): AsyncGenerator<ObjectVersion[]> {
    let start: { KeyMarker?: string; VersionIdMarker?: string | undefined } | undefined = {}
    while (start) {
      const command = new ListObjectVersionsCommand({ Bucket, Prefix, EncodingType: 'url', ...start })
      const options = { name: 'ListObjectVersions', signal, ...PATIENT }
      const page: ListObjectVersionsCommandOutput = await send(stores.s3, command, options)
      const decoded = (key = '') => (page.EncodingType === 'url' ? decodeKey(key) : key)
      const isToGo = ({ LastModified }: ObjectVersion) => !until || !LastModified || LastModified < until
      const all: ObjectVersion[] = [...(page.Versions ?? []).filter(isToGo), ...(page.DeleteMarkers ?? [])]
      yield all.map((version) => ({ ...version, Key: decoded(version.Key) }))
      const next = { KeyMarker: decoded(page.NextKeyMarker), VersionIdMarker: page.NextVersionIdMarker }
      start = page.IsTruncated ? next : undefined
    }
  }

  /** @returns false when S3 refuses, as it does for what is locked: the others need not stay for it */
  async function remove(Bucket: string, { Key, VersionId }: ObjectVersion): Promise<boolean> {
    const options = { name: 'DeleteObject', signal, ...PATIENT }
    try {
      await send(stores.s3, new DeleteObjectCommand({ Bucket, Key, VersionId }), options)
      return true
    } catch (error) {
      if (error instanceof ServiceError) throw error
      sum.refusals.push(`S3 refuses to delete ${Key}: ${error}`)
      return false
    }
  }
}

interface Deleted {
  workspaceId: WorkspaceId
  keys: number
  documents: number
  left: StoredItem[]
  /**
   * Newer objects are of a workspace with the same id, which a promotion asleep or somebody else has made since. S3's
   * clock is compared with ours: if ours is behind, more is left, and the command says so.
   */
  sweepUntil: Date
}

/** Erases the rest of a workspace that was deleted. @throws CommandError when something is there afterwards */
export async function eraseStored(
  { left: items, sweepUntil, ...deleted }: Deleted,
  stores: Stores,
  session: Session,
): Promise<void> {
  const { workspaceId, keys, documents } = deleted
  const { refusals } = await sweepBuckets(sweepUntil, workspaceId, stores, session)
  const left = await sweepBuckets(undefined, workspaceId, stores, session)
  // The resolver would make a late object only a former version, in a versioned bucket.
  const arriveByMs = Math.max(0, ...items.map((item) => (item.state === 'stray' ? item.dueAtMs : 0)))
  // A promotion makes it anew if its key was read before it was deleted.
  const isBack = (await stores.ledger.read(workspaceId, session.signal)) !== undefined
  if (left.all > 0 || isBack) {
    const there = [isBack ? 'a new workspace' : [], left.texts, refusals.slice(0, 1)].flat().join('; ')
    throw new CommandError('not_erased', `${workspaceId} is not erased. There is ${there}. Repeat the command.`)
  }
  if (arriveByMs > 0) {
    const late = `A copy that a killed promotion has begun may arrive until ${time(arriveByMs)}`
    throw new CommandError('not_erased', `${workspaceId} is not erased. ${late}: repeat the command then.`)
  }
  const tombstones = items.length
  const tombstonesExpireAt = new Date(stores.now() + 1000 * TOMBSTONE_SECONDS)
  session.output.done(
    `Workspace ${workspaceId} is erased, with ${counted(keys, 'key')} and ${counted(documents, 'document')}. ` +
      `${counted(tombstones, 'tombstone')} will expire by ${time(tombstonesExpireAt)}; backups and logs stay, too (docs/tenants-and-regions.md).`,
    { ...deleted, outcome: 'erased', tombstones, tombstonesExpireAt },
  )
}
