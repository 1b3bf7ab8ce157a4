import { expect, it } from 'vitest'
import { formatFileId, type WorkspaceId } from '../../lib/ids.ts'
import { useService } from '../support/machine/services.ts'

const PART_BYTES = 128 * 1024 ** 2
const PARTS = 40
const service = useService()

it('5 GiB, the most by default, are promoted and put back to the last byte; one byte more is refused', async () => {
  const { demo, s3, putFile } = service()
  const [workspace, container] = [demo.workspace_id as WorkspaceId, demo.container_id]
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${demo.management_key}` }
    return fetch(demo.base_url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  }
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
  const refused = await call('POST', await putLarge('more', 'end.'))
  expect([refused.status, await refused.text()]).toEqual([413, expect.stringContaining('file_too_large')])
  const promoted = await call('POST', await putLarge('most', 'end'))
  const { id, size_bytes } = (await promoted.json()) as Record<string, unknown>
  expect(size_bytes).toBe(PARTS * PART_BYTES)
  const restored = await call('POST', '/containers/sess_next/files', { file_id: id })
  expect([restored.status, await restored.json()]).toEqual([200, expect.objectContaining({ bytes: size_bytes })])
  const Key = `sandboxes/${workspace}/sess_next/most`
  const { Body } = await s3.getObject({ Bucket: demo.sandbox_bucket, Key, Range: 'bytes=-3' })
  expect(await Body?.transformToString()).toBe('end')
})
