import {
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type ObjectVersion,
} from '@aws-sdk/client-s3'
import pMap from 'p-map'
import type { ErasedObjects } from '../../administration/ports/erasures.ts'
import { ServiceError } from '../../errors.ts'
import { keysOfWorkspace, type ObjectKeyTemplates } from '../../object-keys.ts'
import { statusOf } from '../calls/failures.ts'
import { CLOSING, send } from '../calls/send.ts'
import { decodeKey } from './container-files.ts'
import type { ObjectCopySettings } from './object-copy.ts'
import { createObjectStore } from './object-store.ts'

/** One by one is as fast as a thousand in a request, takes keys that no XML can name, and says which was refused. */
const AT_ONCE = { concurrency: 24 }
const PATIENT = { ...CLOSING, requestTimeoutMs: 30_000 }
/** After so many, the others of this bucket are left to the next try, so that the other bucket has its turn. */
const MOST_REFUSED = 1000

export function createErasedObjects(
  settings: ObjectCopySettings & { keyTemplates: ObjectKeyTemplates },
): ErasedObjects {
  const { client, documentsBucket, sandboxBucket, keyTemplates } = settings
  const from = { documents: [documentsBucket, keyTemplates.document], sandbox: [sandboxBucket, keyTemplates.sandbox] }

  return {
    async erase({ bucket, workspaceId }, signal) {
      const [Bucket = '', template = ''] = from[bucket]
      const { prefix, owns } = keysOfWorkspace(template, workspaceId)
      const found: Awaited<ReturnType<ErasedObjects['erase']>> = { erased: 0, refused: 0 }
      /** What is locked, or denied by a policy, need not keep the others. S3's sentences name paths and roles. */
      const unlessRefused = async (erasing: Promise<unknown>) => {
        try {
          await erasing
          found.erased++
        } catch (error) {
          if (error instanceof ServiceError) throw error
          found.refused++
          found.reason ??= (error as Error).name
        }
      }
      const unlessDenied = async (looking: Promise<void>) => {
        try {
          await looking
        } catch (error) {
          if (statusOf(error) !== 403) throw error
          Object.assign(found, { isDenied: true, reason: (error as Error).name })
        }
      }
      const eraseUploads = async () => {
        const uploads = createObjectStore({ ...settings, documentsBucket: Bucket })
        for await (const { objectKey } of uploads.listUploads(prefix, signal))
          if (owns(objectKey)) await unlessRefused(uploads.abortUploads(objectKey, signal))
      }
      const eraseVersions = async () => {
        const remove = ({ Key, VersionId }: ObjectVersion) => {
          const command = new DeleteObjectCommand({ Bucket, Key, VersionId })
          return unlessRefused(send(client, command, { name: 'DeleteObject', signal, ...PATIENT }))
        }
        for await (const page of pagesOfVersions(Bucket, prefix, signal)) {
          const own = page.filter(({ Key = '' }) => owns(Key))
          await pMap(own, remove, AT_ONCE)
          if (found.refused >= MOST_REFUSED) return
        }
      }
      // Uploads first: one that is completed meanwhile leaves an object, which is deleted next.
      await unlessDenied(eraseUploads())
      await unlessDenied(eraseVersions())
      return found
    },
  }

  /** Also delete markers. In a bucket without versions, each object is one with the id "null". */
  async function* pagesOfVersions(Bucket: string, Prefix: string, signal: AbortSignal) {
    let start: { KeyMarker?: string; VersionIdMarker?: string | undefined } | undefined = {}
    while (start) {
      const command = new ListObjectVersionsCommand({ Bucket, Prefix, EncodingType: 'url', ...start })
      const options = { name: 'ListObjectVersions', signal, ...PATIENT }
      const page: ListObjectVersionsCommandOutput = await send(client, command, options)
      const decoded = (key = '') => (page.EncodingType === 'url' ? decodeKey(key) : key)
      const all: ObjectVersion[] = [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])]
      yield all.map((version) => ({ ...version, Key: decoded(version.Key) }))
      const next = { KeyMarker: decoded(page.NextKeyMarker), VersionIdMarker: page.NextVersionIdMarker }
      start = page.IsTruncated ? next : undefined
    }
  }
}
