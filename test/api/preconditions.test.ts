import { createHash } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { expectRefusal, expectUntouched, idOf, refusalOf, UNLIMITED_HEADERS } from '../support/api/promotion-answers.ts'
import { CONTAINER, CSV, PATH, UNLIMITED, useTestApi } from '../support/api/test-api.ts'
import { skipWaits } from '../support/virtual-waits.ts'

const time = skipWaits()
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const OTHER = Buffer.from('a,b\n1,3\n')
const [MEANT, OTHERS] = [sha256Of(CSV), sha256Of(OTHER)]
const KEY = { 'Idempotency-Key': 'k' }

const api = useTestApi({ rateLimiter: UNLIMITED })
const promote = (headers: Record<string, string>) => api.promote({ headers })
const etagOf = async () => (await api.call('retrieve_container_file')).headers.etag ?? ''

describe('POST …/promote with preconditions', () => {
  it.each<[string, (etag: string) => string, bytes: number, detail?: string]>([
    ['the ETag is another', () => '"0123"', 8],
    ['a proxy has changed the ETag', (etag) => `W/"x", W/${etag.slice(0, -1)}-gzip"`, 8, 'A proxy has added'],
    ['the size is another', (etag) => etag, 9],
  ])('is 400 with what is there when %s, and nothing is kept', async (_, ifMatch, bytes, detail) => {
    const etag = await etagOf()
    const lookUp = vi.spyOn(api.objects, 'findContainerFile')
    const response = await promote({ 'If-Match': ifMatch(etag), 'File-Bytes': `${bytes}` })
    const why = detail && { detail: expect.stringContaining(detail) }
    const there = { container_id: CONTAINER, path: PATH, etag, file_bytes: 8, ...why }
    expectRefusal(response, 'container_file_differs', there, { headers: UNLIMITED_HEADERS })
    expect([lookUp.mock.calls.length, time.pausesMs]).toEqual([1, []])
    expectUntouched(api)
  })

  it.each([
    ['gone', undefined],
    ['overwritten', OTHER],
  ])('replays the document of the bytes that are named, though the file is %s, without waiting', async (_, bytes) => {
    const named = { ...KEY, 'If-Match': await etagOf(), 'File-Bytes': '8' }
    const first = await promote(named)
    api.objects.sandbox.clear()
    if (bytes) api.putFile(PATH, bytes)
    for (const replay of [await promote(named), await promote({ ...named, Prefer: 'wait=20' })]) {
      expect([replay.headers['idempotency-replayed'], idOf(replay)]).toEqual(['true', idOf(first)])
    }
    expect(time.pausesMs).toEqual([])
  })
})

describe('POST …/promote with File-Sha256', () => {
  it('takes a copy whose SHA-256 is not told for one of another file, undoes it, and says what is there', async () => {
    const { copy } = api.objects
    api.objects.copy = async (...args) => ({ ...(await copy(...args)), sha256: undefined })
    const metadata = { reason: 'container_file_differs', etag: await etagOf(), file_bytes: 8 }
    const response = await promote({ 'File-Sha256': MEANT })
    expect(response).toMatchObject({ status: 400, body: { error: { metadata } } })
    expectUntouched(api)
  })

  it('is 400 for a file that is copied in parts, before bytes are held', async () => {
    api.objects.copiesWhole = (sizeBytes) => sizeBytes < CSV.length
    const holds = vi.spyOn(api.ledger, 'hold')
    expect(refusalOf(await promote({ 'File-Sha256': MEANT }))).toEqual([400, 'sha256_unavailable'])
    expect(holds).not.toHaveBeenCalled()
    expect((await promote({})).status).toBe(200)
  })

  it('answers with the document of its key although the file has become too large for it', async () => {
    const headers = { ...KEY, 'File-Sha256': MEANT }
    const first = await promote(headers)
    api.objects.copiesWhole = () => false
    expect([first.status, idOf(await promote(headers))]).toEqual([200, idOf(first)])
  })

  it.each([{}, KEY])('copies once, whether it may wait or not: only the copy tells the SHA-256, %j', async (key) => {
    const copy = vi.spyOn(api.objects, 'copy')
    const answer = await promote({ ...key, 'File-Sha256': OTHERS, Prefer: 'wait=20' })
    expect(refusalOf(answer)).toEqual([400, 'container_file_differs'])
    expect([copy.mock.calls.length, time.pausesMs]).toEqual([1, []])
    expectUntouched(api)
  })
})
