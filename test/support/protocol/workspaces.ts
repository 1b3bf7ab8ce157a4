import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { ONLY_IF_LISTED, PLATFORM_PERMISSIONS } from '../../../lib/auth/caller.ts'
import { openStores } from '../../../lib/aws/stores.ts'
import { documentIdOfAttempt, newAttemptId, type WorkspaceId } from '../../../lib/ids.ts'
import { createObjectKeys } from '../../../lib/object-keys.ts'
import { addKey } from '../stores/keys-and-limits.ts'
import type { StandIns } from '../stores/stand-ins.ts'

export interface TestWorkspace {
  workspaceId: WorkspaceId
  token: string
}

export interface WorkspaceState {
  documents: number
  objects: number
  unfinishedUploads: number
  usedBytes: number
  /** Promotions and deletions that have not ended, holds and refunds. */
  unfinished: number
  /** Undone promotions may have something on their way. */
  strays: number
}

/** Puts workspaces, keys and files into S3 and DynamoDB, and looks at what became of them. */
export function createWorkspaces({ config, dynamoDb, s3 }: Pick<StandIns, 'config' | 'dynamoDb' | 's3'>) {
  const stores = openStores({ config, dynamoDb, s3, now: Date.now })
  const newIds = (workspaceId: WorkspaceId) => {
    const attemptId = newAttemptId()
    return { workspaceId, documentId: documentIdOfAttempt(attemptId), attemptId }
  }
  const keysTable = { client: dynamoDb, tableName: config.keysTable }
  return {
    newPlatformKey: () => addKey(keysTable, { workspaceId: undefined, kind: 'platform' }, PLATFORM_PERMISSIONS),

    /** Its limits are known already, as after its first request. @param quotaBytes omitted: it has no ledger yet */
    async newWorkspace(quotaBytes?: number): Promise<TestWorkspace> {
      const workspaceId = `ws_${randomUUID()}` as WorkspaceId
      const token = await addKey(keysTable, { workspaceId, kind: 'management' }, ONLY_IF_LISTED)
      await stores.rateLimiter.setLimits(workspaceId, { version: 0 }, AbortSignal.timeout(60_000))
      if (quotaBytes !== undefined) {
        await stores.workspaces.create(workspaceId, { quotaBytes }, AbortSignal.timeout(60_000))
      }
      return { workspaceId, token }
    },

    async putFile({ workspaceId }: TestWorkspace, path: string, bytes: Buffer): Promise<void> {
      const Key = `sandboxes/${workspaceId}/sess_1/${path}`
      await s3.putObject({ Bucket: config.sandboxBucket, Key, Body: bytes, ContentType: 'text/plain' })
    },

    /** An object that is named as those of documents are, and belongs to none. */
    async putDocumentObject({ workspaceId }: TestWorkspace, bytes: Buffer): Promise<void> {
      const Key = createObjectKeys(config.keyTemplates).documentObject(newIds(workspaceId))
      await s3.putObject({ Bucket: config.documentsBucket, Key, Body: bytes })
    },

    /** Leaves what a process leaves when it dies after it has taken its bytes. */
    async plantAttempt(
      { workspaceId }: TestWorkspace,
      { sizeBytes, leaseEndsAtMs }: { sizeBytes: number; leaseEndsAtMs: number },
    ): Promise<void> {
      const ids = newIds(workspaceId)
      const attempt = { ...ids, objectKey: createObjectKeys(config.keyTemplates).documentObject(ids) }
      const signal = AbortSignal.timeout(60_000)
      const pending = { ...attempt, state: 'pending', dueAtMs: leaseEndsAtMs } as const
      expect(await stores.documents.begin(pending, undefined, signal)).toBeUndefined()
      expect((await stores.ledger.hold({ ...ids, sizeBytes, leaseEndsAtMs }, signal, 0)).outcome).toBe('held')
    },

    async stateOf({ workspaceId }: TestWorkspace): Promise<WorkspaceState> {
      const prefix = { Bucket: config.documentsBucket, Prefix: `documents/${workspaceId}/` }
      const { Contents = [] } = await s3.listObjectsV2(prefix)
      const { Uploads = [] } = await s3.listMultipartUploads(prefix)
      const signal = AbortSignal.timeout(60_000)
      const ledger = await stores.ledger.read(workspaceId, signal)
      const states = await Array.fromAsync(stores.documents.list(workspaceId, signal), ({ state }) => state)
      const count = (wanted: RegExp) => states.filter((state) => wanted.test(state)).length
      return {
        documents: count(/ready/),
        objects: Contents.length,
        unfinishedUploads: Uploads.length,
        usedBytes: ledger?.usedBytes ?? 0,
        unfinished: count(/pending|deleting/) + (ledger?.holds.length ?? 0) + (ledger?.refunds.length ?? 0),
        strays: count(/stray/),
      }
    },
  }
}
