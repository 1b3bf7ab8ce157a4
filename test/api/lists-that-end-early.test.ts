import OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ContainerFiles } from '../../lib/containers/container-files.ts'
import { ServiceError } from '../../lib/errors.ts'
import { type FilePath, formatFileId } from '../../lib/ids.ts'
import { ANTHROPIC, bodyOf, OPENAI, UNLIMITED, useDocumentsApi } from '../support/api/documents-api.ts'
import type { AnyResponse } from '../support/api/openapi.ts'
import { CONTAINER, CSV, createTestApi, PATH } from '../support/api/test-api.ts'

const LISTING_MS = 4500

let api: ReturnType<typeof createTestApi>
beforeEach(() => {
  api = createTestApi({ rateLimiter: UNLIMITED })
})
afterEach(() => vi.restoreAllMocks())

const list = (query: Record<string, string> = {}, headers = {}) =>
  api.call('list_container_files', { parameters: { container_id: CONTAINER }, query, headers })
const pathsOf = ({ body }: AnyResponse) => (body as { data: { path: string }[] }).data.map(({ path }) => path)

describe('a container file behind 10,000 objects that no id can name', () => {
  beforeEach(() => {
    for (let i = 0; i < 10_000; i++) api.putFile(`p${i}/`, Buffer.alloc(0))
    api.putFile('z', CSV)
  })

  it('is reached by `last_id`', async () => {
    const { body } = await list({ limit: '1', after: formatFileId(PATH) })
    const { last_id } = body as { last_id: string }
    expect(body).toEqual({ object: 'list', data: [], first_id: null, last_id, has_more: true })
    expect(pathsOf(await list({ limit: '1', after: last_id }))).toEqual(['z'])
  })

  it('is not reached by the iterator of OpenAI, but page by page', async () => {
    const fetch = async (url: string | URL | Request) => {
      const { status, body } = await list(Object.fromEntries(new URL(String(url)).searchParams), OPENAI)
      return Response.json(body, { status })
    }
    const client = new OpenAI({ apiKey: 'x', baseURL: 'https://api.example/v1', fetch })
    const listed: string[] = []
    for await (const { path } of client.containers.files.list(CONTAINER)) listed.push(path)
    expect(listed).toEqual([PATH])
    const page = (query: object) =>
      client.get<{ last_id: string; data: object[] }>(`/containers/${CONTAINER}/files`, { query })
    const { last_id: after } = await page({})
    expect((await page({ after })).data).toMatchObject([{ path: 'z' }])
  })
})

describe('a list for which S3 takes longer than 4.5 s', () => {
  /** S3 answers so many pages of one file, then nothing until the time is over. */
  const answer = (pages: number) => {
    const { timeout } = AbortSignal
    const time = new AbortController()
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => (ms === LISTING_MS ? time.signal : timeout(ms)))
    const listed: ContainerFiles['listContainerFiles'] = async function* ({ keyPrefix }, signal) {
      for (let page = 0; page < pages; page++) {
        const file = { objectKey: `${keyPrefix}${page}`, sizeBytes: 1, modifiedAt: new Date(0) }
        yield { files: [file], isLast: false }
      }
      const ending = new Promise((resolve) => signal.addEventListener('abort', resolve))
      time.abort()
      await ending
      throw new ServiceError('promotion_timed_out')
    }
    vi.spyOn(api.objects, 'listContainerFiles').mockImplementation(listed)
    return list()
  }

  it('is what was found by then', async () => {
    const response = await answer(2)
    expect([response.status, pathsOf(response)]).toEqual([200, ['0', '1']])
    expect(response.body).toMatchObject({ has_more: true, last_id: expect.stringMatching(/^cursor_/) })
  })
})

describe('a page of 1,000', () => {
  const files = useDocumentsApi()
  const ROWS = Array.from({ length: 1000 }, (_, i) => i)
  /** A quotation mark takes four bytes of a function's answer, in which the body is a string. */
  const nameOf = (length: number, i: number) => `${'"'.repeat(length - 5)}/${1000 + i}` as FilePath
  const turnPages = async (list: (next: Record<string, string>) => Promise<AnyResponse>) => {
    const pages: AnyResponse[] = []
    for (let next = {}, hasMore = true; hasMore; ) {
      const page = await list({ limit: '1000', ...next })
      expect(Buffer.byteLength(JSON.stringify(JSON.stringify(page.body)))).toBeLessThan(5_500_000)
      const { cursor, next_page, last_id, has_more } = bodyOf(page)
      next = cursor ? { cursor } : next_page ? { page: next_page } : { after: last_id }
      hasMore = pages.push(page) < 9 && has_more
    }
    return pages
  }

  it.each([
    ['native', {}, 1020, 1],
    ['compat_a', ANTHROPIC, 1020, 1],
    ['compat_b', OPENAI, 1020, 1],
    ['native', {}, 2000, 2],
    ['compat_a', ANTHROPIC, 2000, 2],
    ['compat_b', OPENAI, 2000, 2],
  ])(
    'of documents fits into an answer, or ends sooner: %s, %j, names of %i bytes',
    async (_, headers, bytes, pages) => {
      // What an earlier version stored.
      const mimeType = `text/${'x'.repeat(7000)}`
      for (const i of ROWS) await files.record(i, { filename: nameOf(bytes, i), mimeType })
      const turned = await turnPages((next) => files.list({ order: 'desc', ...next }, headers))
      const filenames = turned
        .flatMap(({ body }) => (body as { data: { filename: string }[] }).data)
        .map((file) => file.filename)
      expect([turned.length, filenames]).toEqual([pages, ROWS.map((i) => nameOf(bytes, i))])
    },
  )

  it('of container files fits into an answer, or ends sooner', async () => {
    api.objects.sandbox.clear()
    for (const i of ROWS) api.putFile(nameOf(993, i), CSV)
    const turned = await turnPages(list)
    expect([turned.length, turned.flatMap(pathsOf)]).toEqual([2, ROWS.map((i) => nameOf(993, i))])
  })
})
