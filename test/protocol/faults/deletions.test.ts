import { setTimeout as sleep } from 'node:timers/promises'
import { CreateMultipartUploadCommand } from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import type { ServiceError } from '../../../lib/errors.ts'
import type { DocumentId } from '../../../lib/ids.ts'
import { BYTES, call, objectKeyOf, promoted, usePreparedProcesses } from '../../support/protocol/prepared-documents.ts'

/** How far the indexes of the DynamoDB that this runs on are behind; see stand-ins.ts. */
const INDEX_DELAY_MS = Number(process.env.LIMITED_DYNAMODB ?? 0)

const prepared = usePreparedProcesses(1)

describe('delete_document', () => {
  const gone = { documents: 0, objects: 0, unfinishedUploads: 0, usedBytes: 0, reservations: 0 }

  it('deletes a document whose promotion could not settle, and gives its bytes back once', () =>
    prepared(async (ready) => {
      const { process, workspace } = ready
      process.breakCalls(({ name }) => (name === 'reservations.remove' ? { kind: 'refuse' } : undefined))
      const unsettled = await promoted(process, workspace)
      process.restart()
      expect(await process.stateOf(workspace)).toMatchObject({ documents: 2, reservations: 1 })
      for (const documentId of [ready.documentId, unsettled]) {
        expect((await call({ ...ready, documentId }, 'delete_document')).status).toBe(200)
      }
      expect(await process.stateOf(workspace)).toEqual(gone)
      expect(await process.audit(workspace.workspaceId, false)).toEqual([])
    }))

  it('removes what was left of uploads of its object', () =>
    prepared(async (ready) => {
      const { process, workspace } = ready
      const Key = await objectKeyOf(ready)
      await process.s3.send(new CreateMultipartUploadCommand({ Bucket: process.config.documentsBucket, Key }))
      expect(await process.stateOf(workspace)).toMatchObject({ unfinishedUploads: 1 })
      expect((await call(ready, 'delete_document')).status).toBe(200)
      expect(await process.stateOf(workspace)).toEqual(gone)
    }))
})

describe('200 parallel deletions of the same 20 documents', () => {
  // Minutes on a machine that does something else, too: 200 of them wait for one stand-in.
  it(
    'give the bytes back once, every one is answered 200 in the end, and lists beside show none that is gone',
    {
      timeout: 300_000,
    },
    () =>
      prepared(async (ready) => {
        const { process, workspace } = ready
        const ids = [ready.documentId]
        for (let i = 1; i < 20; i++) ids.push(await promoted(process, workspace))
        expect(await process.stateOf(workspace)).toMatchObject({ documents: 20, usedBytes: 20 * BYTES.length })
        // Counted by a key of their own each: the rate limit is not what this is about.
        const deletions = ids.flatMap((id) => Array<string>(10).fill(id))
        const deletedAtMs = new Map<string, number>()
        const remove = async (id: string) => {
          const asked = () => process.delete(workspace.workspaceId, id as DocumentId, 240_000)
          const again = (error: ServiceError): ReturnType<typeof asked> => {
            if (error.reason !== 'too_many_deletions') throw error
            return asked().catch(again)
          }
          const outcome = await asked().catch(again)
          if (outcome) deletedAtMs.set(id, Date.now())
          return outcome
        }
        const deleting = Promise.all(deletions.map(remove))
        let lists = 0
        let isTimeUp = false
        const listing = async () => {
          while (!isTimeUp || lists === 0) {
            // Slower than the key's rate limit.
            await sleep(150)
            const startedAtMs = Date.now()
            const { status, body } = await process.call('list_documents', workspace, {})
            // The stand-in may be too busy for it.
            expect([200, 503]).toContain(status)
            if (status !== 200) continue
            const gone = [...deletedAtMs].filter(([, atMs]) => atMs <= startedAtMs - INDEX_DELAY_MS).map(([id]) => id)
            const listed = (body as { data: { id: string }[] }).data.map(({ id }) => id)
            expect(listed.filter((id) => gone.includes(id))).toEqual([])
            lists++
          }
        }
        const ended = deleting.finally(() => {
          isTimeUp = true
        })
        const [outcomes] = await Promise.all([ended, listing()])
        expect(outcomes.filter((outcome) => outcome?.usage !== undefined)).toHaveLength(20)
        expect(await process.stateOf(workspace)).toMatchObject({
          documents: 0,
          objects: 0,
          usedBytes: 0,
          reservations: 0,
        })
        for (const documentId of ids) {
          expect((await call({ ...ready, documentId }, 'delete_document')).status).toBe(200)
        }
        expect(await process.audit(workspace.workspaceId, false)).toEqual([])
      }),
  )
})
