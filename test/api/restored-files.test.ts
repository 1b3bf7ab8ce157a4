import { createHash } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { etagOf, type StoredObject } from '../../infra/local/stores/s3-contents.ts'
import type { Attributes } from '../../lib/aws/dynamodb/codec.ts'
import type { ContainerId, FilePath } from '../../lib/ids.ts'
import { documentIdOfFile } from '../../lib/promotion/idempotency.ts'
import { idOf, refusalOf } from '../support/api/promotion-answers.ts'
import { listOf, outcomesOf } from '../support/api/promotions-of-many.ts'
import { NEXT, useRestoredFiles } from '../support/api/restored-files.ts'
import { CONTAINER, CSV, FOREIGN, PATH } from '../support/api/test-api.ts'
import { storedObject, type TestObject } from '../support/aws/memory-s3.ts'
import { DOCUMENTS_TABLE } from '../support/dynamodb/memory-tables.ts'
import { WORKSPACE } from '../support/ports.ts'
import { COPY_SETTINGS } from '../support/stores/memory-objects.ts'

const files = useRestoredFiles()
const { api, keep, keepAndRestore, restore, promote, write, objectAt } = files
const keyOf = (path: string, containerId = NEXT) => `sandboxes/ws_1/${containerId}/${path}`
const promoteAll = (body: object = { prefix: '' }) => api.promoteAll(body, { containerId: NEXT })
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64')
const documents = () => api.stored.documents().length
const changeDocument = (change: (item: Attributes) => unknown) => api.stored.change(DOCUMENTS_TABLE, change)

describe('a file that was put back and not changed', () => {
  const [room, odd] = [1024 - keyOf('').length, `a+b 100%25 what? #1 &c='"<i>\\|^\`;:@,$ (x)[y]{z}!*.txt`]
  it.each<[string, TestObject]>([
    [odd, { bytes: CSV, contentType: 'text/csv' }],
    ['\ufeffотчёт/結果 📄 e\u0301.ts', { bytes: Buffer.alloc(0), contentType: 'video/mp2t' }],
    ['.../ .', { bytes: Buffer.from('encoded'), contentType: 'text/plain; charset=x', contentEncoding: 'gzip' }],
    ['📄'.repeat(room / 4) + 'x'.repeat(room % 4), { bytes: CSV, contentType: 'no type' }],
  ])('is not kept twice: its document is the answer, alone and among many (%#)', async (path, object) => {
    const id = await keepAndRestore(path, object)
    const used = files.usedBytes()
    const answer = await promote(path)
    expect([idOf(answer), answer.headers['idempotency-replayed']]).toEqual([id, 'true'])
    const run = await promoteAll()
    expect([outcomesOf(run), listOf(run).data[0]?.document?.id]).toEqual([[[path, 'kept']], id])
    expect([files.usedBytes(), documents(), api.objects.documents.size]).toEqual([used, 1, 1])
    expect(api.published).toContainEqual(expect.objectContaining({ Replays: 1 }))
  })

  it('is not refused by a full quota, alone or among many; what is new, is', async () => {
    const id = await keepAndRestore()
    write('new', 'new')
    await api.call('save_workspace', { parameters: { workspace_id: 'ws_1' }, body: { quota_bytes: CSV.length } })
    expect(idOf(await promote())).toBe(id)
    expect(outcomesOf(await promoteAll())).toEqual([
      ['new', 'storage_quota_exceeded'],
      [PATH, 'kept'],
    ])
  })

  it('takes two calls more than another file, which takes none', async () => {
    await keepAndRestore()
    const calls = [vi.spyOn(api.objects, 'findContainerFile'), vi.spyOn(api.documents, 'findAll')]
    await promote()
    expect(calls.map(({ mock }) => mock.calls.length)).toEqual([2, 1])
    write('new', 'new')
    await promote('new')
    expect(calls.map(({ mock }) => mock.calls.length)).toEqual([3, 1])
  })

  it('keeps its document as long as the promotion asks for', async () => {
    const id = await keepAndRestore(PATH, { bytes: CSV }, { 'File-Expires-In': '3600' })
    const longer = await promote(PATH, { headers: { 'File-Expires-In': '7200' } })
    expect([idOf(longer), longer.headers['file-expires-in']]).toEqual([id, '7200;by=request'])
    const without = await promoteAll()
    expect(listOf(without).data[0]?.document).toMatchObject({ id })
    expect(listOf(without).data[0]?.document).not.toHaveProperty('expires_at')
  })

  it('is checked like any other against the headers that say which file is meant', async () => {
    const id = await keepAndRestore()
    const hex = createHash('sha256').update(CSV).digest('hex')
    expect(idOf(await promote(PATH, { headers: { 'File-Sha256': hex, 'If-Match': objectAt()?.etag } }))).toBe(id)
    expect((await promote(PATH, { headers: { 'File-Sha256': 'f'.repeat(64) } })).status).toBe(400)
    expect((await promote(PATH, { headers: { 'If-Match': '"other"' } })).status).toBe(400)
  })

  it('leaves an Idempotency-Key what it was: that of another file is refused, that of a document repeats it', async () => {
    const [id, headers] = [await keep(), { 'Idempotency-Key': 'k' }]
    const own = idOf(await api.promote({ headers }))
    await restore({ file_id: id })
    expect((await promote(PATH, { headers })).status).toBe(400)
    expect(idOf(await api.promote({ headers }))).toBe(own)
    expect(idOf(await promote(PATH, { headers: { 'Idempotency-Key': 'new' } }))).toBe(id)
  })

  it('is promoted like any other if it was copied in parts: S3 knows no SHA-256', async () => {
    const id = await keepAndRestore('large', { bytes: Buffer.alloc(COPY_SETTINGS.multipartThresholdBytes + 1) })
    expect(idOf(await promote('large'))).not.toBe(id)
    expect(documents()).toBe(2)
  })
})

describe('a file is promoted like any other, with exactly the bytes it has, if', () => {
  const other = Buffer.from('1,2\na,b\n')
  /** What a container may write beside the bytes. */
  type Hinted = { sha256?: string; contentEncoding?: string }
  const hinted = (id: string, bytes: Buffer, { sha256 = sha256Of(bytes), contentEncoding }: Hinted = {}) => {
    const fileId = `cfile_${Buffer.from(PATH).toString('base64url')}`
    const names = { 'x-amz-meta-document-id': id, 'x-amz-meta-attempt-id': 'x', 'x-amz-meta-file-id': fileId }
    const { headers, ...object } = storedObject({ bytes, contentEncoding })
    return { ...object, headers: { ...headers, ...names }, ...(sha256 && { sha256 }) }
  }
  const put = (object: ReturnType<typeof hinted>) => api.objects.sandbox.set(keyOf(PATH), object)
  const letExpireIn = (ms: number) =>
    changeDocument((item) => Object.assign(item, { due_at: { N: String(api.clock.nowMs + ms) } }))

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['it has changed', async () => write(PATH, 'changed')],
    ['other bytes name the document', async (id) => put(hinted(id, other))],
    ['S3 knows no SHA-256 of it', async (id) => put(hinted(id, other, { sha256: '' }))],
    ['it is encoded differently', async (id) => put(hinted(id, CSV, { contentEncoding: 'gzip' }))],
    ['its document is deleted', async (id) => api.call('delete_document', { parameters: { document_id: id } })],
    ['its document has expired', async () => letExpireIn(-1)],
    ['its document is about to expire', async () => letExpireIn(60_000)],
    ['it names no document', async () => put(hinted('file_11', CSV))],
    ['it names nonsense', async () => put(hinted('x', CSV))],
  ])('%s', async (_, change) => {
    const id = await keepAndRestore()
    await change(id)
    const expected = objectAt()
    const answer = await promote()
    expect([answer.status, idOf(answer) === id]).toEqual([200, false])
    const [document] = api.stored.documents().filter(({ documentId }) => documentId === idOf(answer))
    expect(document).toMatchObject({ containerId: NEXT, sourceEtag: expected?.etag })
    expect(api.objects.documents.get(document?.objectKey ?? '')?.pieces).toEqual(expected?.pieces)
  })

  it('its document cannot be read', async () => {
    const id = await keepAndRestore()
    await changeDocument((item) => delete item.size_bytes)
    const answer = await promote()
    expect([answer.status, idOf(answer) === id]).toEqual([200, false])
  })

  it('it was moved: its document has another name', async () => {
    const id = await keepAndRestore()
    api.objects.sandbox.set(keyOf('final.csv'), objectAt() as StoredObject)
    const answer = await promote('final.csv')
    expect(answer.body).toMatchObject({ filename: 'final.csv' })
    expect(idOf(answer)).not.toBe(id)
  })

  it('the document that it names is of another workspace', async () => {
    api.putFile(PATH, CSV, 'text/csv', FOREIGN)
    const foreign = idOf(await api.promote({ token: api.foreignToken }))
    put(hinted(foreign, CSV))
    const answer = await promote()
    expect([answer.status, idOf(answer) === foreign]).toEqual([200, false])
    expect(files.usedBytes()).toBe(CSV.length)
  })

  it('it is written while it is looked at again', async () => {
    const id = await keepAndRestore()
    vi.spyOn(api.objects, 'findContainerFile').mockImplementationOnce(async (...args) => {
      vi.mocked(api.objects.findContainerFile).mockRestore()
      const found = await api.objects.findContainerFile(...args)
      write(PATH, 'changed!')
      return found
    })
    const answer = await promote()
    expect([answer.status, idOf(answer)]).not.toEqual([200, id])
    expect(idOf(await promote())).not.toBe(id)
  })

  it('it was another file when If-Match was checked: this request is refused', async () => {
    const { objects } = api
    const id = await keep()
    put(hinted(id, other))
    const headers = { 'If-Match': objectAt()?.etag ?? '' }
    const find = objects.findContainerFile.bind(objects)
    vi.spyOn(objects, 'findContainerFile').mockImplementation((...args) => {
      const [, , withSha256] = args
      if (withSha256) put(hinted(id, CSV))
      return find(...args)
    })
    expect(refusalOf(await promote(PATH, { headers }))).toEqual([503, 'container_file_changed'])
  })

  it('it names the very document that it would become', async () => {
    const at = { workspaceId: WORKSPACE, containerId: NEXT as ContainerId, path: PATH as FilePath }
    const id = documentIdOfFile(at, etagOf(CSV))
    put(hinted(id, CSV))
    expect([outcomesOf(await promoteAll()), documents()]).toEqual([[[PATH, 'promoted']], 1])
  })
})

it('where a file comes from does not matter to what puts it there again', async () => {
  const id = await keepAndRestore()
  await restore({ file_id: idOf(await promote()), path: 'copy.csv' })
  // Put there by a path of the request's own, and unchanged.
  expect(idOf(await promote('copy.csv'))).toBe(id)
  expect((await restore({ file_id: id }, CONTAINER)).status).toBe(200)
})
