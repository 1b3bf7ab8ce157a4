import { GetObjectCommand, ListObjectsV2Command, PutBucketVersioningCommand } from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { s3Error } from '../../support/protocol/aws-failures.ts'
import { kept, LARGE_BYTES, NOTHING } from '../../support/protocol/promotions-that-fail.ts'
import { startTestProcess, type TestProcess } from '../../support/protocol/test-process.ts'
import { createTestStores } from '../../support/protocol/test-stores.ts'
import type { TestWorkspace } from '../../support/protocol/workspaces.ts'

const AFTER = Buffer.from(LARGE_BYTES).reverse()

/** A promotion whose file changes when its first part is copied, and before its last one is. */
async function promoteMoving(change: 'PUT' | 'DELETE', isVersioned: boolean) {
  const service = await startTestProcess(await createTestStores())
  try {
    const { sandboxBucket: Bucket } = service.config
    const VersioningConfiguration = { Status: 'Enabled' } as const
    if (isVersioned) await service.s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }))
    const workspace = await service.newWorkspace()
    await service.putFile(workspace, 'a.bin', LARGE_BYTES)
    const path = `/${Bucket}/sandboxes/${workspace.workspaceId}/sess_1/a.bin`
    let parts = 0
    let changing: Promise<unknown> | undefined
    service.breakCalls(({ name }) => {
      if (name !== 'UploadPartCopy' || ++parts === 1 || changing) return undefined
      // The second part waits until the first is there.
      if (parts === 2) return s3Error(503, 'SlowDown')
      changing = service.stores.s3({ method: change, path, headers: {}, body: AFTER })
      return undefined
    })
    const answer = await service.promote(workspace, 'a.bin')
    expect(await changing).toMatchObject({ status: change === 'PUT' ? 200 : 204 })
    return await lookAt(service, workspace, answer)
  } finally {
    await service.stop()
  }
}

async function lookAt(service: TestProcess, workspace: TestWorkspace, answer: { status: number; body: unknown }) {
  const Bucket = service.config.documentsBucket
  const { Contents = [] } = await service.s3.send(new ListObjectsV2Command({ Bucket }))
  const [object] = await Promise.all(Contents.map(({ Key }) => service.s3.send(new GetObjectCommand({ Bucket, Key }))))
  const bytes = await object?.Body?.transformToByteArray()
  return { answer, state: await service.stateOf(workspace), isBefore: bytes && LARGE_BYTES.equals(bytes) }
}

describe.each(['PUT', 'DELETE'] as const)('a file that is changed between two parts of its copy: %s', (change) => {
  it('becomes the document that it was before, where its bucket is versioned', async () => {
    const { answer, ...after } = await promoteMoving(change, true)
    expect(answer.status).toBe(200)
    expect(after).toEqual({ state: kept(LARGE_BYTES.length), isBefore: true })
  })

  it('is 503 container_file_changed elsewhere, and nothing is kept', async () => {
    const { answer, ...after } = await promoteMoving(change, false)
    const error = { metadata: { reason: 'container_file_changed' } }
    expect(answer).toMatchObject({ status: 503, body: { error } })
    expect(after).toEqual({ state: NOTHING, isBefore: undefined })
  })
})
