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
import type { ObjectCopySettings } from './copy-requests.ts'
import { createObjectStore } from './object-store.ts'

/** One by one is as fast as a thousand in a request, takes keys that no XML can name, and says which was refused. */
const AT_ONCE = { concurrency: 24 }
const PATIENT = { ...CLOSING, requestTimeoutMs: 30_000 }

export function createErasedObjects(
  settings: ObjectCopySettings & { sandboxBucket: string; keyTemplates: ObjectKeyTemplates },
): ErasedObjects {
  const { client, documentsBucket, sandboxBucket, keyTemplates } = settings
  const from = { documents: [documentsBucket, keyTemplates.document], sandbox: [sandboxBucket, keyTemplates.sandbox] }

  return {
    async erase({ bucket, workspaceId }, signal) {
      const [Bucket = '', template = ''] = from[bucket]
      const { prefix, owns } = keysOfWorkspace(template, workspaceId)
      const found: Awaited<ReturnType<ErasedObjects['erase']>> = { erased: 0, refused: 0 }
      const remove = async ({ Key, VersionId }: ObjectVersion) => {
        try {
          const command = new DeleteObjectCommand({ Bucket, Key, VersionId })
          await send(client, command, { name: 'DeleteObject', signal, ...PATIENT })
          found.erased++
        } catch (error) {
          if (error instanceof ServiceError) throw error
          // What is locked, or denied by a policy, need not keep the others.
          found.refused++
          found.reason ??= `${error}`
        }
      }
      try {
        // Uploads first: one that is completed meanwhile leaves an object, which is deleted next.
        const uploads = createObjectStore({ ...settings, documentsBucket: Bucket })
        for await (const { objectKey } of uploads.listUploads(prefix, signal)) {
          if (!owns(objectKey)) continue
          await uploads.abortUploads(objectKey, signal)
          found.erased++
        }
        for await (const page of pagesOfVersions(Bucket, prefix, signal)) {
          const own = page.filter(({ Key = '' }) => owns(Key))
          await pMap(own, remove, AT_ONCE)
        }
        return found
      } catch (error) {
        if (statusOf(error) !== 403) throw error
        return { ...found, isDenied: true, reason: `${error}` }
      }
    },
  }

  /** Also delete markers. In a bucket without versions, each object is one with the id "null". */
  async function* pagesOfVersions(
    Bucket: string,
    Prefix: string,
    signal: AbortSignal,
  ): AsyncGenerator<ObjectVersion[]> {
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
