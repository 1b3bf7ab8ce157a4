import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import { formatFileId, type WorkspaceId } from '../../lib/ids.ts'
import { UnreadableItemError } from '../../lib/ledger/ports/unreadable-item.ts'
import { OPENAI, UNLIMITED } from '../support/api/documents-api.ts'
import type { AnyResponse } from '../support/api/openapi.ts'
import { expectUntouched, refusalOf } from '../support/api/promotion-answers.ts'
import { deadlineIn } from '../support/api/rest-event.ts'
import { CONTAINER, CSV, createTestApi, PATH } from '../support/api/test-api.ts'
import { storedObject } from '../support/aws/memory-s3.ts'
import { NOW_MS } from '../support/ports.ts'
import { createLimiter } from '../support/stores/keys-and-limits.ts'
import { replaceWaits } from '../support/virtual-waits.ts'

// Whoever waits gives the answers of the S3 in memory, which are streams, a turn.
replaceWaits((_ms, value) => setImmediate(value))

interface Item {
  path: string
  file_id: string
  outcome: string
  document?: { id: string }
  error?: { code: number; metadata: { reason: string; detail: string } }
}
const listOf = ({ body }: AnyResponse) => body as { data: Item[]; has_more: boolean; next: string | null }
/** Each path with its outcome or, if it was refused, the reason. */
const outcomesOf = (response: AnyResponse) =>
  listOf(response).data.map(({ path, outcome, error }) => [path, error?.metadata.reason ?? outcome])

function prepare(paths: readonly string[] = [], change: Parameters<typeof createTestApi>[0] = {}) {
  const api = createTestApi({ rateLimiter: UNLIMITED, ...change })
  for (const path of paths) api.putFile(path, CSV, 'text/csv')
  const promoteAll = (
    body: object | string,
    { containerId = CONTAINER, ...request }: Parameters<typeof api.call>[1] & { containerId?: string } = {},
  ) => api.call('promote_container_files', { parameters: { container_id: containerId }, body, ...request })
  return { ...api, promoteAll }
}

const paths = (count: number, from = 0) =>
  Array.from({ length: count }, (_, number) => `many/${String(from + number).padStart(3, '0')}.csv`)

describe('POST /v1/containers/{container_id}/promote: 200', () => {
  it('promotes what begins with the prefix, in order of path, counts it, and says how full the workspace is', async () => {
    const api = prepare(['output/b.csv', 'output/\u{1f4c4}.csv', 'output/\uff21.csv', 'outputs.csv', 'output.csv'])
    const response = await api.promoteAll({ prefix: 'output/' })
    // UTF-8 sorts U+FF21 before U+1F4C4, UTF-16 after it.
    const promoted = ['output/b.csv', PATH, 'output/\uff21.csv', 'output/\u{1f4c4}.csv']
    expect(outcomesOf(response)).toEqual(promoted.map((path) => [path, 'promoted']))
    expect(response.body).toMatchObject({ object: 'list', has_more: false, next: null })
    const [first] = listOf(response).data
    expect(first).toEqual({
      path: 'output/b.csv',
      file_id: formatFileId('output/b.csv'),
      outcome: 'promoted',
      document: expect.objectContaining({ _shape: 'native', filename: 'output/b.csv', size_bytes: 8 }),
    })
    expect(response.headers).toMatchObject({ 'storage-quota-bytes': '1000', 'storage-used-bytes': '32' })
    const kept = api.stored.documents().map(({ filename }) => filename)
    expect(kept.toSorted()).toEqual(promoted.toSorted())
    expect(api.objects.documents.size).toBe(4)
    expect(api.stored.ledgerOf('ws_1')).toMatchObject({ usedBytes: 32 })
    expect(api.stored.items()).toHaveLength(4)
  })

  it('promotes the paths that it is given, sorted, and refuses those that are not there one by one', async () => {
    const api = prepare(['b.csv', 'a.csv'])
    const response = await api.promoteAll({ paths: ['\u{1f4c4}', 'gone.csv', 'b.csv', '\uff21', '__proto__', 'a.csv'] })
    const missing = 'container_file_not_found'
    expect(outcomesOf(response)).toEqual([
      ['__proto__', missing],
      ['a.csv', 'promoted'],
      ['b.csv', 'promoted'],
      ['gone.csv', missing],
      ['\uff21', missing],
      ['\u{1f4c4}', missing],
    ])
    expect(listOf(response).data[0]?.error).toEqual({
      code: 404,
      message: 'Resource not found',
      metadata: {
        reason: 'container_file_not_found',
        detail: 'The container exists, but has no file at this path.',
        container_id: CONTAINER,
        path: '__proto__',
      },
    })
  })

  it('answers with documents in the shape of its vendor', async () => {
    const { data } = listOf(await prepare().promoteAll({ prefix: '' }, { headers: OPENAI }))
    expect(data).toMatchObject([{ path: PATH, document: { _shape: 'compat_b', object: 'file', bytes: 8 } }])
  })

  it.each([['prefix'], ['paths']])('keeps the document of an unchanged file: %s', async (kind) => {
    const api = prepare(['output/a.csv'])
    const body = kind === 'prefix' ? { prefix: '' } : { paths: ['output/a.csv', PATH] }
    const first = listOf(await api.promoteAll(body))
    const begin = vi.spyOn(api.documents, 'begin')
    const again = await api.promoteAll(body)
    expect(listOf(again).data).toEqual(first.data.map((item) => ({ ...item, outcome: 'kept' })))
    expect(begin).not.toHaveBeenCalled()
    expect(again.headers).toMatchObject({ 'storage-used-bytes': '16' })

    api.putFile(PATH, Buffer.from('changed'), 'text/csv')
    expect(outcomesOf(await api.promoteAll(body))).toEqual([
      ['output/a.csv', 'kept'],
      [PATH, 'promoted'],
    ])
    expect(api.stored.documents().length).toBe(3)
  })

  it('makes no document that a promotion with an Idempotency-Key could make', async () => {
    const api = prepare()
    const { data } = listOf(await api.promoteAll({ prefix: '' }))
    const { etag } =
      (await api.objects.findContainerFile(`sandboxes/ws_1/${CONTAINER}/${PATH}`, AbortSignal.timeout(1000))) ?? {}
    for (const key of [`${CONTAINER}${PATH}${etag}`, String(data[0]?.document?.id)]) {
      const { body } = await api.promote({ headers: { 'idempotency-key': key } })
      expect(body).not.toMatchObject({ id: data[0]?.document?.id })
    }
  })

  it('refuses a file whose document was deleted, and says how to keep it again', async () => {
    const api = prepare(['output/a.csv'])
    const { data } = listOf(await api.promoteAll({ prefix: '' }))
    await api.call('delete_document', { parameters: { document_id: data[0]?.document?.id } })
    for (const body of [{ prefix: '' }, { paths: ['output/a.csv', PATH] }]) {
      const response = await api.promoteAll(body)
      expect(outcomesOf(response)).toEqual([
        ['output/a.csv', 'idempotency_key_spent'],
        [PATH, 'kept'],
      ])
      expect(listOf(response).data[0]?.error?.metadata.detail).toContain('by a request of its own')
    }
    expect((await api.promote({ path: 'output/a.csv' })).status).toBe(200)
  })

  it('refuses what alone would be refused: too large, archived, no file, beyond the quota', async () => {
    const api = prepare(['a.csv'], { maxFileBytes: 900 })
    const put = (path: string, object: object) =>
      api.objects.sandbox.set(
        `sandboxes/ws_1/${CONTAINER}/${path}`,
        storedObject({ bytes: CSV, contentType: 'text/csv', ...object }),
      )
    put('archived', { storageClass: 'GLACIER' })
    put('folder', { bytes: Buffer.alloc(0), contentType: 'application/x-directory' })
    put('hadoop_$folder$', { bytes: Buffer.alloc(0) })
    put('large', { bytes: Buffer.alloc(901) })
    put('one-half', { bytes: Buffer.alloc(600) })
    put('other-half', { bytes: Buffer.alloc(600) })
    const response = await api.promoteAll({ prefix: '' })
    const [one, other] = outcomesOf(response).slice(4, 6)
    expect([one?.[1], other?.[1]].toSorted()).toEqual(['promoted', 'storage_quota_exceeded'])
    expect(outcomesOf(response).filter((_, index) => index !== 4 && index !== 5)).toEqual([
      ['a.csv', 'promoted'],
      ['archived', 'container_file_archived'],
      ['folder', 'container_file_not_regular'],
      ['large', 'file_too_large'],
      [PATH, 'promoted'],
    ])
    expect(response.headers).toMatchObject({ 'storage-used-bytes': '616' })
  })

  it('goes through five hundred files, each once, and says where to go on', async () => {
    const all = paths(501)
    const api = prepare(all)
    // All of them would take a busy machine longer than the gateway waits: there is room for fifty.
    await api.workspaces.create('ws_1' as WorkspaceId, 50 * CSV.length, AbortSignal.timeout(1000))
    const first = await api.promoteAll({ prefix: 'many/' })
    const outcomes = outcomesOf(first)
    expect(outcomes.map(([path]) => path)).toEqual(all.slice(0, 500))
    expect(outcomes.filter(([, outcome]) => outcome === 'promoted')).toHaveLength(50)
    expect(outcomes.filter(([, outcome]) => outcome === 'storage_quota_exceeded')).toHaveLength(450)
    expect(first.body).toMatchObject({ has_more: true, next: formatFileId('many/499.csv') })
    const rest = await api.promoteAll({ prefix: 'many/', after: listOf(first).next })
    expect(outcomesOf(rest)).toEqual([['many/500.csv', 'storage_quota_exceeded']])
    expect(rest.body).toMatchObject({ has_more: false, next: null })
    expect(api.stored.documents().length).toBe(50)
    expect(rest.headers).toMatchObject({ 'storage-used-bytes': String(50 * CSV.length) })
  })

  it('answers with an empty list for a prefix that no file has, which it says, and after the last file', async () => {
    const api = prepare()
    const none = { object: 'list', data: [], has_more: false, next: null }
    const detail = 'The container has no file whose path begins with "none/".'
    expect((await api.promoteAll({ prefix: 'none/' })).body).toEqual({ ...none, detail })
    for (const body of [{ prefix: '' }, { paths: [PATH] }]) {
      expect((await api.promoteAll({ ...body, after: formatFileId('z') })).body).toEqual(none)
    }
  })

  it('ends before what does not fit into an answer', async () => {
    const api = prepare()
    const wanted = Array.from({ length: 500 }, (_, number) => `${'"'.repeat(985)}${number + 100}é`)
    for (const path of wanted) api.putFile(path.normalize('NFD'), CSV)
    // The S3 in memory sorts all these keys for each list.
    vi.spyOn(api.objects, 'hasContainer').mockResolvedValue(true)
    const first = listOf(await api.promoteAll({ paths: wanted }))
    expect(first.data.length).toBeLessThan(500)
    expect([first.has_more, first.next]).toEqual([true, first.data.at(-1)?.file_id])
    const rest = await api.promoteAll({ paths: wanted, after: first.next })
    expect(outcomesOf(rest)).toEqual(wanted.slice(first.data.length).map((path) => [path, 'container_file_not_found']))
  })
})

describe('POST /v1/containers/{container_id}/promote: what cannot be done now', () => {
  it('counts each file by the rate limit, and ends where that ends', async () => {
    const { rateLimiter } = createTestApi().dependencies
    const limited = prepare(paths(10), { rateLimiter })
    const take = vi.spyOn(rateLimiter, 'take')
    const response = await limited.promoteAll({ prefix: 'many/' })
    expect(outcomesOf(response)).toEqual(paths(5).map((path) => [path, 'promoted']))
    expect(response.body).toMatchObject({ has_more: true, next: formatFileId('many/004.csv') })
    expect(response.headers).toMatchObject({ ratelimit: '"default";r=0;t=5' })
    // The request, and the rest of the burst: the process knows that there is no more.
    expect(take.mock.calls.map(([, , count = 1]) => count)).toEqual([1, 4])
    expect(await limited.promoteAll({ prefix: 'many/' })).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1' },
    })
    expect(limited.stored.documents().length).toBe(5)
  })

  it('goes on when the rate limiter does not answer', async () => {
    const api = prepare(paths(3))
    vi.spyOn(api.dependencies.rateLimiter, 'take').mockRejectedValue(new Error('no table'))
    expect(outcomesOf(await api.promoteAll({ prefix: 'many/' }))).toHaveLength(3)
  })

  it('keeps the document that a twin has made between the look for it and its own beginning', async () => {
    const api = prepare()
    const { begin } = api.documents
    const twins: Promise<AnyResponse>[] = []
    vi.spyOn(api.documents, 'begin').mockImplementationOnce(async (...args) => {
      twins.push(api.promoteAll({ prefix: '' }))
      await twins[0]
      return begin(...args)
    })
    const own = await api.promoteAll({ prefix: '' })
    const [twin] = await Promise.all(twins)
    expect(outcomesOf(own)).toEqual([[PATH, 'kept']])
    expect(twin && outcomesOf(twin)).toEqual([[PATH, 'promoted']])
    expect([api.stored.items().length, api.objects.documents.size]).toEqual([1, 1])
    expect(api.stored.ledgerOf('ws_1')).toMatchObject({ usedBytes: 8 })
  })

  it('looks for the document of a file that changed after it was listed', async () => {
    const api = prepare()
    const changed = Buffer.from('changed')
    api.putFile(PATH, changed)
    await api.promoteAll({ prefix: '' })
    api.putFile(PATH, CSV)
    const { findContainerFile } = api.objects
    vi.spyOn(api.objects, 'findContainerFile').mockImplementationOnce((...args) => {
      api.putFile(PATH, changed)
      return findContainerFile(...args)
    })
    expect(outcomesOf(await api.promoteAll({ prefix: '' }))).toEqual([[PATH, 'kept']])
    expect(api.stored.documents().length).toBe(1)
  })

  it('ends before a file that would begin too late, and goes on from there', async () => {
    const api = prepare(paths(40))
    let remainingMs = 28_000
    const { copy } = api.objects
    vi.spyOn(api.objects, 'copy').mockImplementation(async (...args) => {
      // Less than five seconds of work.
      remainingMs = 7499
      return copy(...args)
    })
    const first = await api.promoteAll({ prefix: 'many/' }, { remainingMs: () => remainingMs })
    const done = outcomesOf(first).length
    expect([done > 0, done < 40]).toEqual([true, true])
    expect(outcomesOf(first)).toEqual(paths(done).map((path) => [path, 'promoted']))
    expect(first.body).toMatchObject({ has_more: true, next: formatFileId(String(paths(done).at(-1))) })
    // What was done behind the end of the list is counted now, and kept when the next request answers with it.
    const made = api.stored.documents().length
    expect(api.published).toContainEqual(
      expect.objectContaining({ Promotions: made, PromotedBytes: made * CSV.length }),
    )
    const rest = await api.promoteAll({ prefix: 'many/', after: listOf(first).next })
    expect(listOf(rest).data.map(({ path }) => path)).toEqual(paths(40 - done, done))
    expect(listOf(rest).data.flatMap(({ error }) => error ?? [])).toEqual([])
    expect(api.stored.documents().length).toBe(40)
  })

  it('makes progress in each request, however slow the lookups of paths are', async () => {
    const api = prepare(paths(100), { rateLimiter: createLimiter(UNLIMITED.policy, () => NOW_MS) })
    const take = vi.spyOn(api.dependencies.rateLimiter, 'take')
    const lookUp = vi.spyOn(api.objects, 'findContainerFile')
    // Ten at once, of three seconds each.
    const remainingMs = () => 28_000 - 300 * lookUp.mock.calls.length
    const response = await api.promoteAll({ paths: paths(100) }, { remainingMs })
    const done = outcomesOf(response).length
    expect(done).toBeGreaterThan(50)
    expect(outcomesOf(response)).toEqual(paths(done).map((path) => [path, 'promoted']))
    expect(response.body).toMatchObject({ has_more: true, next: formatFileId(String(paths(done).at(-1))) })
    expect(take.mock.calls.map(([, , count = 1]) => count)).toEqual([1, 99])
  })

  it('refuses without a call what is larger than what was left of the quota for another file, and tries the rest', async () => {
    const api = prepare([], { maxFileBytes: 2000 })
    api.putFile('kept', Buffer.alloc(900))
    await api.promoteAll({ paths: ['kept'], expires_in_seconds: 3600 })
    api.clock.nowMs += 600_000
    const large = paths(40)
    for (const path of large) api.putFile(path, Buffer.alloc(200))
    api.putFile('many/small', Buffer.alloc(50))
    api.putFile('many/too large', Buffer.alloc(2001))
    api.putFile('many/unfit', Buffer.alloc(1001))
    const calls = [vi.spyOn(api.objects, 'findContainerFile'), vi.spyOn(api.documents, 'begin')]
    const { data } = listOf(await api.promoteAll({ prefix: 'many/' }))
    const bytes = { quota_bytes: 1000, used_bytes: 900, file_bytes: 200, frees_bytes_at: expect.any(String) }
    const metadata = { ...bytes, reason: 'storage_quota_exceeded', retry_after_seconds: 3120 }
    for (const { error } of data.slice(0, 40)) expect(error).toMatchObject({ code: 403, metadata })
    expect(outcomesOf({ body: { data: data.slice(40) } } as never)).toEqual([
      ['many/small', 'promoted'],
      ['many/too large', 'file_too_large'],
      ['many/unfit', 'storage_quota_exceeded'],
    ])
    expect(data.at(-1)?.error?.metadata).not.toHaveProperty('frees_bytes_at')
    for (const { mock } of calls) expect(mock.calls.length).toBeLessThanOrEqual(13)
  })

  it('refuses the first file if it is too slow, undoes the others, and ends', async () => {
    const api = prepare(paths(3))
    vi.spyOn(api.objects, 'copy').mockImplementation(async (_, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      throw new ServiceError('request_timed_out')
    })
    const response = await api.promoteAll({ prefix: 'many/' }, { remainingMs: deadlineIn(100) })
    expect(outcomesOf(response)).toEqual([['many/000.csv', 'request_timed_out']])
    expect(listOf(response).data[0]?.error?.metadata).toMatchObject({ retry_after_seconds: 5 })
    expect(response.body).toMatchObject({ has_more: true, next: formatFileId('many/000.csv') })
    expectUntouched(api)
  })

  it('copies what is copied in parts one after the other, in order, and others meanwhile', async () => {
    const api = prepare(paths(12))
    api.objects.copiesWhole = (sizeBytes) => sizeBytes <= 100
    const large = [0, 4, 8].map((number) => String(paths(12)[number]))
    for (const path of large) api.putFile(path, Buffer.alloc(101))
    const { copy } = api.objects
    const running = new Set<string>()
    const order: string[] = []
    let isBeside = false
    vi.spyOn(api.objects, 'copy').mockImplementation(async (request, signal) => {
      const { sizeBytes, objectKey } = request.source
      if (sizeBytes <= 100) isBeside ||= running.size > 0
      else {
        expect([...running]).toEqual([])
        order.push(objectKey.slice(objectKey.indexOf('many/')))
        running.add(objectKey)
        for (let turn = 0; turn < 100; turn++) await null
        running.delete(objectKey)
      }
      return copy(request, signal)
    })
    expect(outcomesOf(await api.promoteAll({ prefix: 'many/' }))).toEqual(paths(12).map((path) => [path, 'promoted']))
    expect([order, isBeside]).toEqual([large, true])
  })

  it('waits for a crowded ledger as long as there is time', async () => {
    const api = prepare(paths(2))
    const take = vi.spyOn(api.ledger, 'take').mockResolvedValueOnce({ outcome: 'crowded' })
    expect(outcomesOf(await api.promoteAll({ paths: paths(1) }))).toEqual([['many/000.csv', 'promoted']])
    expect(take).toHaveBeenCalledTimes(2)

    take.mockResolvedValue({ outcome: 'crowded' })
    let remainingMs = 28_000
    const left = () => {
      remainingMs -= 100
      return remainingMs
    }
    const response = await api.promoteAll({ paths: paths(2) }, { remainingMs: left })
    expect(outcomesOf(response)).toEqual([['many/000.csv', 'kept']])
    expect(response.body).toMatchObject({ has_more: true })
    expect(api.stored.documents().length).toBe(1)
  })

  it.each([
    ['is 503 when S3 does not list', 'listContainerFiles', { prefix: '' }],
    ['is 503 when no document can be looked for', 'findAll', { paths: [PATH] }],
  ])('%s', async (_, method, body) => {
    const api = prepare()
    const down = new ServiceError('service_unavailable')
    if (method === 'findAll') vi.spyOn(api.documents, 'findAll').mockRejectedValue(down)
    else
      vi.spyOn(api.objects, 'listContainerFiles').mockImplementation(async function* () {
        yield* []
        throw down
      })
    expect(refusalOf(await api.promoteAll(body))).toEqual([503, 'service_unavailable'])
    expectUntouched(api)
  })

  it('is the next request that goes on when a store fails in the middle', async () => {
    const api = prepare(paths(120))
    const { findAll } = api.documents
    vi.spyOn(api.documents, 'findAll')
      .mockImplementationOnce((...args) => findAll(...args))
      .mockRejectedValueOnce(new ServiceError('service_unavailable'))
    const first = listOf(await api.promoteAll({ prefix: 'many/' }))
    expect([first.data.length, first.next]).toEqual([100, formatFileId('many/099.csv')])
    const rest = listOf(await api.promoteAll({ prefix: 'many/', after: first.next }))
    expect([rest.data.length, rest.next]).toEqual([20, null])
  })

  it('counts no file for which no time is left', async () => {
    const api = prepare(paths(120))
    const take = vi.spyOn(api.dependencies.rateLimiter, 'take').mockClear()
    const remainingMs = () => (api.stored.documents().length < 100 ? 28_000 : 7499)
    const first = listOf(await api.promoteAll({ prefix: 'many/' }, { remainingMs }))
    expect([first.data.length, first.next]).toEqual([100, formatFileId('many/099.csv')])
    expect(take.mock.calls.map(([, , count = 1]) => count)).toEqual([1, 99])
  })

  it('is no refusal of the others when the document of one file cannot be read', async () => {
    const api = prepare(['a.csv'])
    const unreadable = new UnreadableItemError('it has no size')
    vi.spyOn(api.documents, 'findAll').mockRejectedValueOnce(unreadable)
    vi.spyOn(api.documents, 'begin').mockRejectedValueOnce(unreadable)
    const outcomes = outcomesOf(await api.promoteAll({ paths: ['a.csv', PATH] })).map(([, outcome]) => outcome)
    expect(outcomes.toSorted()).toEqual(['internal_error', 'promoted'])
  })

  it('is no refusal of the others when one file fails on our side, and its cause is logged only', async () => {
    const api = prepare(['a.csv'])
    vi.spyOn(api.objects, 'copy').mockRejectedValueOnce(new Error('AccessDenied: secret'))
    const response = await api.promoteAll({ paths: ['a.csv', PATH] })
    const outcomes = outcomesOf(response).map(([, outcome]) => outcome)
    expect(outcomes.toSorted()).toEqual(['internal_error', 'promoted'])
    expect(JSON.stringify(response.body)).not.toContain('secret')
    expect(api.logged).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'a file of many was not promoted', reason: 'internal_error' }),
    )
    expect(outcomesOf(await api.promoteAll({ paths: ['a.csv'] }))).toHaveLength(1)
  })
})

describe('POST /v1/containers/{container_id}/promote: log and metrics', () => {
  it('count each file, and refusals by their reason', async () => {
    const api = prepare(['a.csv', 'b.csv'])
    await api.promoteAll({ paths: ['a.csv'] })
    api.published.splice(0)
    await api.promoteAll({ paths: ['a.csv', 'b.csv', PATH, 'x', 'y'] })
    expect(api.published).toEqual(
      expect.arrayContaining([
        { Promotions: 2, PromotedBytes: 16, Replays: 1 },
        { Refusals: 2, reason: 'container_file_not_found' },
      ]),
    )
    const line = { operation: 'promote_container_files', container_id: CONTAINER, promoted: 2, kept: 1, refused: 2 }
    expect(api.logged.at(-1)).toMatchObject(line)
    expect(JSON.stringify(api.logged)).not.toContain('b.csv')
  })

  it('say that the quota is nearly full', async () => {
    const api = prepare()
    api.putFile('a', Buffer.alloc(450))
    api.putFile('b', Buffer.alloc(450))
    await api.promoteAll({ paths: ['a', 'b'] })
    expect(api.published).toContainEqual({ Promotions: 2, PromotedBytes: 900, QuotaNearlyFull: 1 })
  })
})

describe('POST /v1/containers/{container_id}/promote: refused as a whole', () => {
  const many = Array.from({ length: 501 }, (_, number) => `${number}`)
  it.each([
    ['', 'either prefix or paths'],
    ['{', 'a JSON object'],
    ['null', 'either prefix or paths'],
    ['[]', 'a JSON object'],
    ['{"prefix":"","paths":["a"]}', 'either prefix or paths'],
    ['{"prefix":"","expire":1}', 'only the members prefix, paths, after, expires_in_seconds'],
    ['{"__proto__":{"prefix":""}}', 'only the members'],
    ['{"prefix":"","__proto__":1}', 'only the members'],
    ['{"prefix":null}', 'either prefix or paths'],
    ['{"prefix":["a"]}', 'prefix must be a string'],
    ['{"prefix":"","after":1}', 'after must be'],
    ['{"paths":"a"}', '1 to 500'],
    ['{"paths":[]}', '1 to 500'],
    ['{"paths":["a",null]}', 'paths[1] must be a string'],
    ['{"paths":["a","b","a"]}', 'paths[2] is there twice'],
    ['{"paths":["a/../b"]}', 'paths[0] contains an empty, "." or ".." segment'],
    ['{"paths":["\\ud800"]}', 'paths[0] must be a string of Unicode'],
    ['{"paths":["a\\u0000"]}', 'paths[0] contains a control character'],
    [JSON.stringify({ paths: many }), '1 to 500'],
    [JSON.stringify({ paths: ['x'.repeat(1025)] }), 'paths[0] is too long'],
    [JSON.stringify({ paths: many.slice(1).map((path) => path.padEnd(2000, '-')) }), 'at most 1000000 bytes'],
    ...['/', '/a', '..', '../', '../../ws_2/', 'a/../', 'a/..', './', '.', 'a//', 'a\u0000'].map(
      (prefix): [string, string] => [JSON.stringify({ prefix }), 'prefix '],
    ),
  ])('is 400 for body %#, and touches nothing', async (body, detail) => {
    const api = prepare()
    const lookUp = vi.spyOn(api.objects, 'findContainerFile')
    const list = vi.spyOn(api.objects, 'listContainerFiles')
    const response = await api.promoteAll(body)
    expect(refusalOf(response)).toEqual([400, 'invalid_body'])
    expect(response.body).toMatchObject({ error: { metadata: { detail: expect.stringContaining(detail) } } })
    expect([lookUp.mock.calls, list.mock.calls]).toEqual([[], []])
    expectUntouched(api)
  })

  it.each([
    ['a path that is too long with its container', { paths: [PATH, 'x'.repeat(1010)] }, 'invalid_file_id'],
    ['a prefix that is', { prefix: 'x'.repeat(1010) }, 'invalid_file_id'],
    ['a start that is no file id', { paths: [PATH], after: 'x' }, 'invalid_file_id'],
    ['a cursor of nobody', { prefix: '', after: 'cursor_!' }, 'invalid_cursor'],
  ])('is 400 for %s', async (_, body, reason) => {
    const api = prepare()
    expect(refusalOf(await api.promoteAll(body))).toEqual([400, reason])
    expectUntouched(api)
  })

  it("is 404 for another workspace's container, as for a missing one", async () => {
    const api = prepare()
    api.putFile('a.csv', CSV, 'text/csv', 'ws_2', 'sess_2')
    for (const body of [{ prefix: '' }, { prefix: 'a' }, { paths: ['a.csv', 'b.csv'] }]) {
      for (const containerId of ['sess_2', 'sess_none']) {
        const response = await api.promoteAll(body, { containerId })
        expect(refusalOf(response)).toEqual([404, 'container_not_found'])
        expect(response.body).toMatchObject({ error: { metadata: { container_id: containerId } } })
      }
    }
    expectUntouched(api)
  })

  it('is 403 for a prefix without the permission to read containers; paths need none', async () => {
    const api = prepare()
    const token = api.apiKeys.add({ permissions: ['files:promote'], keyId: 'key_one' })
    const headers = { Authorization: `Bearer ${token}` }
    expect(await api.promoteAll({ prefix: '' }, { headers })).toMatchObject({
      status: 403,
      body: { error: { metadata: { reason: 'permission_denied', required_permission: 'containers:read' } } },
    })
    expectUntouched(api)
    expect(outcomesOf(await api.promoteAll({ paths: [PATH] }, { headers }))).toEqual([[PATH, 'promoted']])
  })
})
