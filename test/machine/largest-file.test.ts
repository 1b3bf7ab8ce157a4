import { expect, it } from 'vitest'
import { formatFileId, type WorkspaceId } from '../../lib/ids.ts'
import { useService } from '../support/machine/services.ts'

const PART_BYTES = 32 * 1024 ** 2
const PARTS = 160
const service = useService()

it('5 GiB, the most by default, are promoted and put back to the last byte; one byte more is refused', async () => {
  const { demo, s3, ask, putFile } = service()
  const [workspace, container] = [demo.workspace_id as WorkspaceId, demo.container_id]
  /** Of parts of which the stand-in keeps the bytes once. */
  const putLarge = async (path: string, last: string) => {
    await putFile(workspace, container, 'part', Buffer.alloc(PART_BYTES))
    const object = { Bucket: demo.sandbox_bucket, Key: `sandboxes/${workspace}/${container}/${path}` }
    const CopySource = `${demo.sandbox_bucket}/sandboxes/${workspace}/${container}/part`
    const upload = { ...object, UploadId: (await s3.createMultipartUpload(object)).UploadId }
    const Parts: { PartNumber: number; ETag: string | undefined }[] = []
    for (let PartNumber = 1; PartNumber < PARTS; PartNumber++)
      Parts.push({
        PartNumber,
        ETag: (await s3.uploadPartCopy({ ...upload, PartNumber, CopySource })).CopyPartResult?.ETag,
      })
    const Body = Buffer.alloc(PART_BYTES + last.length - 3)
    Body.write(last, PART_BYTES - 3)
    Parts.push({ PartNumber: PARTS, ETag: (await s3.uploadPart({ ...upload, PartNumber: PARTS, Body })).ETag })
    await s3.completeMultipartUpload({ ...upload, MultipartUpload: { Parts } })
    return `/containers/${container}/files/${formatFileId(path)}/promote`
  }
  const refused = await ask('POST', await putLarge('more', 'end.'))
  expect([refused.status, refused.body.error.metadata.reason]).toEqual([413, 'file_too_large'])
  const { id, size_bytes } = (await ask('POST', await putLarge('most', 'end'))).body
  expect(size_bytes).toBe(PARTS * PART_BYTES)
  const restored = await ask('POST', '/containers/sess_next/files', { body: { file_id: id } })
  expect(restored).toMatchObject({ status: 200, body: { bytes: size_bytes } })
  const Key = `sandboxes/${workspace}/sess_next/most`
  const { Body } = await s3.getObject({ Bucket: demo.sandbox_bucket, Key, Range: 'bytes=-3' })
  expect(await Body?.transformToString()).toBe('end')
})
