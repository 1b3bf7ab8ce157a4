import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import type { StoredObject } from '../../infra/local/stores/s3-contents.ts'
import { ServiceError } from '../../lib/errors.ts'
import { formatFileId } from '../../lib/ids.ts'
import { reasonOf, refusalOf } from '../support/api/promotion-answers.ts'
import { NEXT, restoredList, restoredOutcomes, useRestoredFiles } from '../support/api/restored-files.ts'
import { CONTAINER, CSV, PATH } from '../support/api/test-api.ts'
import { storedObject, type TestObject } from '../support/aws/memory-s3.ts'
import { beforeNext } from '../support/beside.ts'
import { DOCUMENTS_TABLE } from '../support/dynamodb/memory-tables.ts'
import { COPY_SETTINGS } from '../support/stores/memory-objects.ts'

const files = useRestoredFiles()
const { api, keep, keepAndRestore, restore, restoreMany, show, write, objectAt, textAt } = files
const LITTLE = { bytes: CSV }
const objectOf = (text: string) => ({ bytes: Buffer.from(text) })
const LARGE = { bytes: Buffer.alloc(COPY_SETTINGS.multipartThresholdBytes + 1, 'x') }

/** Does it once the container's file is looked up, which begins with the lookup of the document's object. */
const afterLookup = (change: () => unknown) =>
  beforeNext(api.objects, 'findDocumentObject', () => sleep(20).then(change))

describe('POST /v1/containers/{container_id}/files', () => {
  it('puts a document back at its own path, as GET shows it, with type and encoding, and counts nothing', async () => {
    const encoded = { bytes: Buffer.from('encoded'), contentType: 'text/plain', contentEncoding: 'gzip' }
    const id = await keep('notes/a.txt', encoded)
    const answer = await restore({ file_id: id })
    const shown = await show('notes/a.txt')
    expect([answer.status, answer.body]).toEqual([200, { ...(shown.body as object), source: 'user' }])
    expect(answer.headers.etag).toBe(shown.headers.etag)
    const described = { 'content-type': 'text/plain', 'content-encoding': 'gzip' }
    expect(objectAt('notes/a.txt')?.headers).toMatchObject(described)
    expect(textAt('notes/a.txt')).toBe('encoded')
    expect(files.usedBytes()).toBe(7)
  })

  it('puts it at another path, where it begins the container', async () => {
    const path = 'input/ä b.csv'
    const { body } = await restore({ file_id: await keep(), path }, 'sess_new')
    const file = { id: formatFileId(path), container_id: 'sess_new', path, bytes: CSV.length }
    expect(body).toMatchObject(file)
    expect(textAt(path, 'sess_new')).toBe(CSV.toString())
  })

  it.each([
    ['whole', LITTLE],
    ['in parts', LARGE],
  ] as const)('is success again, with the same ETag, copied %s; and writes nothing', async (_, object) => {
    const id = await keep('some.bin', object)
    const [first, written] = [await restore({ file_id: id }), objectAt('some.bin')]
    // Of a copy in parts, S3 cannot tell that it is the same: it is written once more.
    for (const on_existing of object === LARGE ? ['refuse'] : ['refuse', 'replace']) {
      const again = await restore({ file_id: id, on_existing })
      expect([again.status, again.headers.etag, objectAt('some.bin')]).toEqual([200, first.headers.etag, written])
    }
    // Where it came from, nothing is in the way either.
    expect((await restore({ file_id: id }, CONTAINER)).status).toBe(200)
  })

  it('refuses another file at this path, and says which, or replaces it', async () => {
    const id = await keep()
    write(PATH, 'of the agent')
    const refused = await restore({ file_id: id })
    const { etag } = (await show()).headers
    const metadata = { reason: 'container_file_exists', container_id: NEXT, path: PATH, etag, file_bytes: 12 }
    expect([refused.status, refused.body]).toMatchObject([400, { error: { metadata } }])
    expect(textAt()).toBe('of the agent')
    expect((await restore({ file_id: id, on_existing: 'replace' })).status).toBe(200)
    expect(textAt()).toBe(CSV.toString())
  })

  it.each<[string, TestObject, Partial<StoredObject>]>([
    ['is archived', LITTLE, { headers: { 'x-amz-storage-class': 'GLACIER' } }],
    ['is encoded', LITTLE, { headers: { 'content-encoding': 'gzip' } }],
    ['is a directory', { bytes: Buffer.alloc(0) }, { headers: { 'content-type': 'application/x-directory' } }],
    ['only says that it is a copy', LARGE, storedObject({ bytes: Buffer.alloc(LARGE.bytes.length, 'y') })],
  ])('does not take a file of the same size that %s for the document, and replaces it', async (_, object, change) => {
    const id = await keepAndRestore('a.bin', object)
    const copy = objectAt('a.bin') as StoredObject
    const { headers, etag } = copy
    const other = { ...copy, ...change, etag, headers: { ...headers, ...change.headers } }
    api.objects.sandbox.set(`sandboxes/ws_1/${NEXT}/a.bin`, other)
    expect((await restore({ file_id: id, on_existing: 'replace' })).status).toBe(200)
    expect([textAt('a.bin'), objectAt('a.bin')?.headers]).toEqual([object.bytes.toString(), headers])
  })

  it.each([
    ['whole, as a new file', LITTLE, 'refuse', undefined],
    ['whole, over a file', LITTLE, 'replace', 'before'],
    ['whole, as a new file that might replace one', LITTLE, 'replace', undefined],
    ['in parts, as a new file', LARGE, 'refuse', undefined],
    ['in parts, over a file', LARGE, 'replace', 'before'],
  ] as const)('copied %s, overwrites nothing that is written after the lookup', async (...row) => {
    const [, object, on_existing, before] = row
    const id = await keep('a.bin', object)
    if (before) write('a.bin', before)
    afterLookup(() => write('a.bin', '12345678'))
    expect(refusalOf(await restore({ file_id: id, on_existing }))).toEqual([400, 'container_file_exists'])
    expect(textAt('a.bin')).toBe('12345678')
    expect([...api.objects.uploads.values()]).toEqual([])
  })

  it('is repeated when the file that was to be replaced has gone meanwhile', async () => {
    const id = await keep()
    write(PATH, 'before')
    afterLookup(() => api.objects.sandbox.delete(`sandboxes/ws_1/${NEXT}/${PATH}`))
    const answer = await restore({ file_id: id, on_existing: 'replace' })
    expect([...refusalOf(answer), answer.headers['retry-after']]).toEqual([503, 'container_file_changed', '1'])
    expect((await restore({ file_id: id, on_existing: 'replace' })).status).toBe(200)
  })

  it('of two at once, one wins, and the other says so', async () => {
    const [one, other] = [await keep('a', objectOf('one')), await keep('b', objectOf('other'))]
    const answers = await Promise.all([one, other].map((file_id) => restore({ file_id, path: 'c' })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
    expect(textAt('c')).toBe(answers[0]?.status === 200 ? 'one' : 'other')
    const same = await Promise.all([one, one].map((file_id) => restore({ file_id, path: 'd' })))
    expect(same.map(({ status }) => status)).toEqual([200, 200])
  })

  it.each<[string, object, number, string, RegExp]>([
    ['no document', {}, 400, 'invalid_body', /file_id must be the id of a document/],
    ["a container file's id", { file_id: formatFileId(PATH) }, 404, 'document_not_found', /id of a container file/],
    ['an unknown document', { file_id: 'file_11' }, 404, 'document_not_found', /no document/],
    ['a path out of the container', { path: '../x' }, 400, 'invalid_body', /path contains an empty, "\." or "\.\."/],
    ['half a character', { path: '\ud800' }, 400, 'invalid_body', /path must be a string of Unicode/],
    ['a path that is too long', { path: 'x'.repeat(1025) }, 400, 'invalid_body', /path is too long/],
    ['a path too long for this container', { path: 'x'.repeat(1010) }, 400, 'invalid_file_id', /too long to be stored/],
    ['another way', { on_existing: 'rename' }, 400, 'invalid_body', /refuse or replace/],
    ['what it does not know', { purpose: 'x' }, 400, 'invalid_body', /only the members file_id, path, on_existing/],
  ])('refuses %s, and changes nothing', async (_, body, status, reason, detail) => {
    const id = await keep()
    const before = [...api.objects.sandbox.keys()]
    const needsDocument = !('file_id' in body) && Object.keys(body).length > 0
    const answer = await restore({ ...(needsDocument && { file_id: id }), ...body })
    expect(refusalOf(answer)).toEqual([status, reason])
    expect(JSON.stringify(answer.body).replaceAll('\\"', '"')).toMatch(detail)
    expect([...api.objects.sandbox.keys()]).toEqual(before)
  })

  it('refuses a form with a file in it, and says what it takes', async () => {
    const form = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\na\r\n--x--\r\n'
    const answer = await restore(form as never)
    expect(refusalOf(answer)).toEqual([400, 'invalid_body'])
    expect(JSON.stringify(answer.body)).toContain('with file_id, path, on_existing, and no form with a file.')
  })

  it("refuses another workspace's document and container like one that does not exist", async () => {
    const body = { file_id: await keep() }
    const answer = await api.call('create_container_file', { containerId: NEXT, token: api.foreignToken, body })
    expect(refusalOf(answer)).toEqual([404, 'document_not_found'])
    expect(objectAt()).toBeUndefined()
  })

  it('refuses what is expired, lost, archived, too large, or would be no file', async () => {
    const expired = await keep('e', LITTLE, { 'File-Expires-In': '3600' })
    api.clock.nowMs += 3_601_000
    expect(refusalOf(await restore({ file_id: expired }))).toEqual([404, 'document_expired'])
    const id = await keep()
    const [key = ''] = [...api.objects.documents.keys()].filter((each) => each.includes(id.slice(5)))
    const object = api.objects.documents.get(key)
    api.objects.documents.delete(key)
    expect(refusalOf(await restore({ file_id: id }))).toEqual([404, 'file_not_downloadable'])
    if (object) api.objects.documents.set(key, { ...object, headers: { 'x-amz-storage-class': 'GLACIER' } })
    expect(refusalOf(await restore({ file_id: id }))).toEqual([404, 'file_not_downloadable'])
    const empty = await keep('empty', { bytes: Buffer.alloc(0) })
    const noFile = await restore({ file_id: empty, path: 'x_$folder$' })
    expect(refusalOf(noFile)).toEqual([404, 'container_file_not_regular'])
    const six = await keep('six', objectOf('6bytes'))
    api.dependencies.maxFileBytes = 5
    expect(refusalOf(await restore({ file_id: six }))).toEqual([413, 'file_too_large'])
  })
})

describe('POST /v1/containers/{container_id}/restore', () => {
  it('says of each document what came of it, in the order given, and one refused refuses no other', async () => {
    const [a, b] = [await keepAndRestore('a', objectOf('aa')), await keep('b', objectOf('bb'))]
    write('c', 'of the agent')
    const withPaths = [
      { file_id: a, path: 'c' },
      { file_id: b, path: 'd' },
    ]
    const wanted = [{ file_id: b }, { file_id: 'file_1' }, { file_id: a }, ...withPaths]
    const answer = await restoreMany({ files: wanted })
    expect(restoredOutcomes(answer)).toEqual([
      ['b', 'restored'],
      [null, 'document_not_found'],
      ['a', 'present'],
      ['c', 'container_file_exists'],
      ['d', 'restored'],
    ])
    const { data, ...page } = restoredList(answer)
    expect(page).toEqual({ object: 'list', has_more: false, next: null })
    expect(data.map(({ file_id }) => file_id)).toEqual(wanted.map(({ file_id }) => file_id))
    expect(data[0]?.container_file).toMatchObject({ path: 'b', bytes: 2, source: 'user', etag: objectAt('b')?.etag })
    expect(textAt('c')).toBe('of the agent')
    const again = await restoreMany({ files: wanted.toSpliced(1, 1), on_existing: 'replace' })
    expect(restoredOutcomes(again).map(([, outcome]) => outcome)).toEqual(['present', 'present', 'restored', 'present'])
  })

  const FILE = { file_id: 'file_1' }
  it.each<[string, object, RegExp]>([
    ['none', {}, /files must be an array of 1 to 100/],
    ['an empty list', { files: [] }, /files must be an array of 1 to 100/],
    ['more than 100', { files: Array(101).fill(FILE) }, /files must be an array of 1 to 100/],
    ['a string', { files: ['file_1'] }, /files\[0\] must be an object with the file_id/],
    ['an unknown member', { files: [{ ...FILE, on_existing: 'x' }] }, /files\[0\] has "on_existing"/],
    ['a bad path', { files: [FILE, { ...FILE, path: '/a' }] }, /files\[1\]\.path must be relative/],
    ['a path twice', { files: Array(2).fill({ ...FILE, path: 'a' }) }, /Several files would have the path "a"/],
    ['an `after` of something else', { files: [FILE], after: '1' }, /after must be the next/],
  ])('refuses %s, and changes nothing', async (_, body, detail) => {
    const answer = await restoreMany(body)
    expect(refusalOf(answer)).toEqual([400, 'invalid_body'])
    expect(JSON.stringify(answer.body).replaceAll('\\"', '"')).toMatch(detail)
  })

  it('refuses two documents of the same filename, before it writes one', async () => {
    const [one, other] = [await keep('a', LITTLE), await keep('a', objectOf('other'))]
    expect(reasonOf(await restoreMany({ files: [{ file_id: one }, { file_id: other }] }))).toBe('invalid_body')
    expect(objectAt('a')).toBeUndefined()
  })

  const keepThree = async () => {
    const ids = [await keep('a', LITTLE), await keep('b', LITTLE), await keep('c', LITTLE)]
    return { files: ids.map((file_id) => ({ file_id })) }
  }

  it('ends where the time does, is gone on with, and begins at least one', async () => {
    const [body, late] = [await keepThree(), { remainingMs: 7000 }]
    const first = await restoreMany(body, late)
    expect(restoredOutcomes(first)).toEqual([['a', 'restored']])
    expect(first.body).toMatchObject({ has_more: true, next: '1' })
    const second = await restoreMany({ ...body, after: '1' }, late)
    expect([restoredOutcomes(second), restoredList(second).next]).toEqual([[['b', 'restored']], '2'])
    expect(restoredOutcomes(await restoreMany({ ...body, after: '2' }))).toEqual([['c', 'restored']])
  })

  it('leaves a document during which the time runs out, and those after it, to the next request', async () => {
    const body = await keepThree()
    let leftMs = 20_000
    vi.spyOn(api.objects, 'write').mockImplementation(async ({ objectKey }) => {
      if (!objectKey.endsWith('/b')) return { etag: '"e"', modifiedAt: new Date(0) }
      leftMs = 5000
      throw new ServiceError('request_timed_out')
    })
    const answer = await restoreMany(body, { remainingMs: () => leftMs })
    expect([restoredOutcomes(answer), restoredList(answer).next]).toEqual([[['a', 'restored']], '1'])
  })

  it('goes on without a document whose copy fails on our side, which only the log explains', async () => {
    const body = await keepThree()
    const error = new ServiceError('service_unavailable', { cause: new Error('secret') })
    vi.spyOn(api.objects, 'write').mockRejectedValueOnce(error)
    const answer = await restoreMany(body)
    const outcomes = restoredOutcomes(answer).map(([, outcome]) => outcome)
    expect(outcomes.toSorted()).toEqual(['restored', 'restored', 'service_unavailable'])
    expect(restoredList(answer).data.find((each) => each.error)?.error?.metadata.retry_after_seconds).toBe(1)
    expect(JSON.stringify(answer.body)).not.toContain('secret')
    expect(api.logged).toContainEqual(expect.objectContaining({ message: 'a document was not restored', error }))
  })
})

describe('the rate limit', () => {
  const limited = useRestoredFiles({})
  /** Of a key with 30 requests a minute, and a burst of 5. */
  const ofKey = () => ({
    token: limited.api.apiKeys.add({ permissions: ['containers:write'], requestsPerMinute: 30 }),
  })

  it('refuses before it writes, however late the limiter answers', async () => {
    const { rateLimiter } = limited.api.dependencies
    const id = await limited.keep()
    const late = { isAllowed: false, isDisabled: false, remaining: 0, retryAfterMs: 1000, resetMs: 5000 }
    rateLimiter.take = () => sleep(100, { policy: rateLimiter.policy, ...late })
    expect([(await limited.restore({ file_id: id })).status, limited.objectAt()]).toEqual([429, undefined])
  })

  it('counts each file, and ends a list with how long to wait', async () => {
    const { api } = limited
    const [id, request] = [await limited.keep(), ofKey()]
    const body = { files: Array.from({ length: 9 }, (_, index) => ({ file_id: id, path: `f${index}` })) }
    const first = restoredList(await limited.restoreMany(body, request))
    expect(first).toMatchObject({ data: { length: 5 }, has_more: true, next: '5', retry_after_seconds: 8 })
    api.clock.nowMs += 8000
    const second = restoredList(await limited.restoreMany({ ...body, after: '5' }, request))
    expect(second).toMatchObject({ data: { length: 4 }, has_more: false, next: null })
  })

  it('counts each further GiB, as far as they fit, so that one file can always be put back', async () => {
    const { api } = limited
    const [id, request] = [await limited.keep(), ofKey()]
    const size_bytes = { N: String(2.5 * 1024 ** 3) }
    await api.stored.change(DOCUMENTS_TABLE, (item) => Object.assign(item, { size_bytes }))
    vi.spyOn(api.objects, 'write').mockResolvedValue({ etag: '"e"', modifiedAt: new Date(0) })
    const put = async (path: string) => {
      const body = { file_id: id, path }
      const { status, headers } = await api.call('create_container_file', { containerId: NEXT, body, ...request })
      return [status, headers.ratelimit?.split(';')[1], headers['retry-after']]
    }
    expect(await put('a')).toEqual([200, 'r=2', undefined])
    expect(await put('b')).toEqual([200, 'r=0', undefined])
    expect(await put('c')).toEqual([429, 'r=0', '2'])
    api.clock.nowMs += 4000
    const body = { files: ['c', 'd'].map((path) => ({ file_id: id, path })) }
    const page = { data: [{ outcome: 'restored' }], has_more: true, next: '1', retry_after_seconds: 6 }
    expect(restoredList(await limited.restoreMany(body, request))).toMatchObject(page)
  })
})
