import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ContainerFiles } from '../../lib/containers/container-files.ts'
import { ServiceError } from '../../lib/errors.ts'
import type { FilePath } from '../../lib/ids.ts'
import { bodyOf, idsOf, pathsOf, useDocumentsApi } from '../support/api/documents-api.ts'
import type { AnyResponse } from '../support/api/openapi.ts'
import { ANTHROPIC, CSV, OPENAI } from '../support/api/test-api.ts'

const files = useDocumentsApi()
const { api } = files
afterEach(() => vi.restoreAllMocks())

const list = (query: Record<string, string> = {}) => api.call('list_container_files', { query })

it('a list for which S3 takes longer than 4.5 s is what was found by then', async () => {
  const { timeout } = AbortSignal
  const time = new AbortController()
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => (ms === 4500 ? time.signal : timeout(ms)))
  const listed: ContainerFiles['listContainerFiles'] = async function* ({ keyPrefix }, signal) {
    for (const path of ['0', '1']) {
      const file = { objectKey: keyPrefix + path, sizeBytes: 1, etag: '"1"', modifiedAt: new Date(0) }
      yield { files: [file], isLast: false }
    }
    const ending = new Promise((resolve) => signal.addEventListener('abort', resolve))
    time.abort()
    await ending
    throw new ServiceError('request_timed_out')
  }
  vi.spyOn(api.objects, 'listContainerFiles').mockImplementation(listed)
  const response = await list()
  expect([response.status, pathsOf(response)]).toEqual([200, ['0', '1']])
  expect(response.body).toMatchObject({ has_more: true, last_id: expect.stringMatching(/^cursor_/) })
})

it('a list that passed over too many expired documents goes on behind them, though it shows none', async () => {
  const [first, second] = [await files.record(2), await files.record(1)]
  vi.spyOn(api.dependencies.listing, 'page').mockResolvedValueOnce({ items: [], hasMore: true, last: first })
  const response = await files.list()
  expect(response.body).toMatchObject({ data: [], first_id: null, last_id: first.documentId, has_more: true })
  for (const query of [{ cursor: bodyOf(response).cursor }, { after: first.documentId }]) {
    expect(idsOf(await files.list(query))).toEqual([second.documentId])
  }
})

describe('a page of 1,000', () => {
  /** A quotation mark takes four bytes of a function's answer, in which the body is a string. */
  const namesOf = (bytes: number) => Array.from({ length: 1000 }, (_, i) => `${'"'.repeat(bytes - 5)}/${1000 + i}`)
  const turnPages = async (list: (next: Record<string, string>) => Promise<AnyResponse>) => {
    const pages = [await list({ limit: '1000' })]
    for (let page = pages[0]; page && bodyOf(page).has_more && pages.length < 9; pages.push(page)) {
      const { cursor, next_page, last_id } = bodyOf(page)
      const next = cursor ? { cursor } : next_page ? { page: next_page } : { after: last_id }
      page = await list({ limit: '1000', ...next })
    }
    for (const { body } of pages)
      expect(Buffer.byteLength(JSON.stringify(JSON.stringify(body)))).toBeLessThan(5_500_000)
    return pages.map(({ body }) => (body as { data: { filename?: string; path?: string }[] }).data)
  }

  it.each([
    [1020, 1],
    [2000, 2],
  ])('of the largest documents fits into an answer; of larger ones, it ends sooner: %i bytes', async (bytes, count) => {
    const names = namesOf(bytes) as FilePath[]
    const mimeType = `text/${'x'.repeat(250)}`
    for (const [i, filename] of names.entries()) await files.record(i, { filename, mimeType })
    for (const headers of [{}, ANTHROPIC, OPENAI]) {
      const pages = await turnPages((next) => files.list({ order: 'desc', ...next }, headers))
      expect([pages.length, pages.flat().map(({ filename }) => filename)]).toEqual([count, names])
    }
  })

  it('of container files with the longest names ends sooner', async () => {
    api.objects.sandbox.clear()
    for (const path of namesOf(993)) api.putFile(path, CSV)
    const pages = await turnPages(list)
    expect([pages.length, pages.flat().map(({ path }) => path)]).toEqual([2, namesOf(993)])
  })
})
