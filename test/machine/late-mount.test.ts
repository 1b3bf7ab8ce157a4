import { setTimeout as sleep } from 'node:timers/promises'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { formatFileId } from '../../lib/ids.ts'
import { promote } from '../support/machine/requests.ts'
import { useService } from '../support/machine/services.ts'

const service = useService()
const PATH = 'output/late.txt'

/** Behaves like a mount with a write-back: a file is uploaded some time after it was closed, unless it is flushed. */
function mount() {
  const { s3, demo } = service()
  const Key = `sandboxes/${demo.workspace_id}/${demo.container_id}/${PATH}`
  let flushed = new AbortController()
  let uploading: Promise<unknown> = Promise.resolve()
  return {
    write(Body: string): void {
      flushed = new AbortController()
      const put = () => s3.send(new PutObjectCommand({ Bucket: demo.sandbox_bucket, Key, Body }))
      uploading = sleep(60_000, undefined, { signal: flushed.signal })
        .catch(() => {})
        .then(put)
    },
    flush(): Promise<unknown> {
      flushed.abort()
      return uploading
    },
  }
}

async function promoted(
  named: Record<string, string> = {},
): Promise<{ status: number; reason?: string; content?: string }> {
  const { demo } = service()
  const at = { token: demo.management_key, containerId: demo.container_id, fileId: formatFileId(PATH) }
  const { status, body } = await promote(demo.base_url, at, named)
  const { id, error } = body as { id: string; error?: { metadata: { reason: string } } }
  if (error) return { status, reason: error.metadata.reason }
  const headers = { authorization: `Bearer ${demo.management_key}` }
  const download = await fetch(`${demo.base_url}/files/${id}/content`, { headers })
  return { status, content: await download.text() }
}

describe('a mount that writes late (docs/sandboxes.md)', () => {
  it('has no file before the first upload, and the bytes of before until the next, unless the promotion waits for others', async () => {
    const late = mount()
    late.write('first')
    expect(await promoted()).toEqual({ status: 404, reason: 'container_file_not_found' })
    await late.flush()
    expect(await promoted()).toEqual({ status: 200, content: 'first' })
    late.write('second')
    expect(await promoted()).toEqual({ status: 200, content: 'first' })
    await late.flush()
    expect(await promoted()).toEqual({ status: 200, content: 'second' })
    late.write('the third')
    expect(await promoted({ 'file-bytes': '9' })).toEqual({ status: 400, reason: 'container_file_differs' })
    const waiting = promoted({ 'file-bytes': '9', prefer: 'wait=20' })
    await sleep(600)
    await late.flush()
    expect(await waiting).toEqual({ status: 200, content: 'the third' })
  })
})
