import { CreateMultipartUploadCommand } from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import type { ServiceError } from '../../../lib/errors.ts'
import type { DocumentId } from '../../../lib/ids.ts'
import { BYTES, call, objectKeyOf, promoted, usePreparedProcesses } from '../../support/protocol/prepared-documents.ts'

const prepared = usePreparedProcesses(1)

const NOTHING = { documents: 0, objects: 0, unfinishedUploads: 0, usedBytes: 0, unfinished: 0, strays: 0 }

describe('delete_document', () => {
  it('removes what was left of uploads of its object', () =>
    prepared(async (ready) => {
      const { process, workspace } = ready
      const Key = await objectKeyOf(ready)
      await process.s3.send(new CreateMultipartUploadCommand({ Bucket: process.config.documentsBucket, Key }))
      expect(await process.stateOf(workspace)).toMatchObject({ unfinishedUploads: 1 })
      expect((await call(ready, 'delete_document')).status).toBe(200)
      expect(await process.stateOf(workspace)).toEqual(NOTHING)
    }))
})

describe('200 parallel deletions of the same 20 documents', () => {
  // Minutes on a machine that does something else, too: 200 of them wait for one stand-in.
  it('give the bytes back once, and every one is answered 200 in the end', { timeout: 300_000 }, () =>
    prepared(async (ready) => {
      const { process, workspace } = ready
      const ids = [ready.documentId]
      for (let i = 1; i < 20; i++) ids.push(await promoted(process, workspace))
      expect(await process.stateOf(workspace)).toMatchObject({ documents: 20, usedBytes: 20 * BYTES.length })
      // The ledger has places for seven.
      const remove = (id: string): ReturnType<typeof process.delete> =>
        process.delete(workspace.workspaceId, id as DocumentId, 240_000).catch((error: ServiceError) => {
          if (error.reason !== 'too_many_deletions') throw error
          return remove(id)
        })
      const outcomes = await Promise.all(ids.flatMap((id) => Array<string>(10).fill(id)).map(remove))
      expect(outcomes.filter((outcome) => outcome?.usage !== undefined)).toHaveLength(20)
      expect(await process.stateOf(workspace)).toEqual(NOTHING)
      for (const documentId of ids) {
        expect((await call({ ...ready, documentId }, 'delete_document')).status).toBe(200)
      }
      expect(await process.audit(workspace.workspaceId, false)).toEqual([])
    }),
  )
})
