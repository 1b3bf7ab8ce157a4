import { beforeAll, describe, expect, it } from 'vitest'
import { formatFileId } from '../../lib/ids.ts'
import {
  all,
  bytesOf,
  CONTAINER,
  SMALL,
  type SourceFile,
  useVendorLibraries,
} from '../support/machine/use-vendor-libraries.ts'

const MIB = 1024 * 1024
/** The local service copies files above 8 MiB in parts: this one in two. */
const LARGE = Buffer.alloc(9 * MIB, Buffer.from('0123456789abcdefghijklmnopqrstu\0'))
const FILES: SourceFile[] = [
  { path: 'empty.txt', body: Buffer.alloc(0), contentType: 'text/plain' },
  { path: 'output/table.csv', body: Buffer.from('a,b\n1,2\n'), contentType: 'text/csv' },
  { path: 'large.bin', body: LARGE, contentType: undefined },
  { path: 'отчёты/итог – 結果 📄.txt', body: Buffer.from('Привет, 世界\n'), contentType: 'text/plain; charset=utf-8' },
  { path: `it's "100%" ;=;.html`, body: Buffer.from('<script>alert(1)</script>'), contentType: 'text/html' },
]

const { service, workspaceId, key, newWorkspace, promote, libraries, openRouter, openAi, anthropic } =
  useVendorLibraries()
const idsOf = async (items: AsyncIterable<{ id: string }>) => (await all(items)).map(({ id }) => id)

describe('downloads', () => {
  const ids = new Map<string, string>()
  beforeAll(async () => {
    await newWorkspace(FILES)
    for (const { path } of FILES) ids.set(path, (await promote(path)).id)
  }, 60_000)

  it.each(libraries)('by $name have the bytes of every file', async ({ download }) => {
    for (const { path, body, contentType } of FILES) {
      const answer = await download(ids.get(path) ?? '')
      expect((await bytesOf(answer)).equals(body), path).toBe(true)
      // OpenRouter's gives the bytes only.
      if (!(answer instanceof Response)) continue
      expect(answer.headers.get('content-type'), path).toBe(contentType ?? 'application/octet-stream')
      const disposition = answer.headers.get('content-disposition') ?? ''
      expect(disposition).toMatch(/^attachment; /)
      const encoded = /filename\*=UTF-8''([^;]+)$/.exec(disposition)?.[1]
      expect(decodeURIComponent(encoded ?? '')).toBe(path.split('/').at(-1))
    }
  })

  const containers = () => openRouter().containers
  it.each<[string, (id: string) => Promise<Response | ReadableStream>]>([
    ['OpenRouter', (fileId) => containers().downloadContainerFileContent({ containerId: CONTAINER, fileId })],
    ['OpenAI', (id) => openAi().containers.files.content.retrieve(id, { container_id: CONTAINER })],
  ])('of container files by %s have the bytes of every file', async (_, download) => {
    for (const { path, body } of FILES) {
      expect((await bytesOf(await download(formatFileId(path)))).equals(body), path).toBe(true)
    }
  })

  it('resume where they were broken off: S3 takes a Range', async () => {
    const id = ids.get('large.bin') ?? ''
    const response = await openAi().files.content(id, { headers: { Range: `bytes=${MIB}-${MIB + 9}` } })
    expect([response.status, await response.text()]).toEqual([206, LARGE.subarray(MIB, MIB + 10).toString()])
  })

  it('are refused by S3 beside a second authentication, which is why no library sends one there', async () => {
    const headers = { authorization: `Bearer ${key()}` }
    const url = `${service().demo.base_url}/files/${ids.get('empty.txt')}/content`
    const answer = await fetch(url, { headers, redirect: 'manual' })
    const location = answer.headers.get('location') ?? ''
    expect(await answer.json()).toEqual({ url: location, expires_at: expect.any(String) })
    const response = await fetch(location, { headers })
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('InvalidArgument')])
    expect((await fetch(location)).status).toBe(200)
  })
})

describe('single files', () => {
  let id: string
  beforeAll(async () => {
    await newWorkspace(FILES)
    id = (await promote('output/table.csv')).id
  })

  it('are shown in the words of each library', async () => {
    const native = { type: 'file', filename: 'output/table.csv', downloadable: true }
    const compatA = { ...native, id, mime_type: 'text/csv', size_bytes: 8 }
    const compatB = { object: 'file', id, bytes: 8, purpose: 'assistants_output', status: 'processed' }
    const words = [{ ...native, shape: 'openrouter', id, mimeType: 'text/csv', sizeBytes: 8 }, compatB]
    const shown = await Promise.all(libraries.map(({ retrieve }) => retrieve(id)))
    expect(shown).toMatchObject([...words, compatA, compatA, compatA])
    expect(await openAi().files.waitForProcessing(id)).toMatchObject(compatB)
  })

  it('are promoted into what OpenRouter and OpenAI parse', async () => {
    const ids = { containerId: CONTAINER, fileId: formatFileId('output/table.csv') }
    expect(await openRouter().containers.promoteContainerFile(ids)).toMatchObject({ shape: 'openrouter', sizeBytes: 8 })
    const path = `/containers/${CONTAINER}/files/${ids.fileId}/promote`
    expect(await openAi().post(path)).toMatchObject({ object: 'file', bytes: 8 })
    expect(await anthropic().post(`/v1${path}`)).toMatchObject({ type: 'file', size_bytes: 8 })
  })

  it('of containers are listed and shown by OpenRouter and OpenAI', async () => {
    const paths = FILES.map(({ path }) => path).toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    const listed = await openRouter().containers.listContainerFiles({ containerId: CONTAINER })
    expect(listed.data.map(({ path }) => path)).toEqual(paths)
    const pages = await all(openAi().containers.files.list(CONTAINER, { limit: 2 }))
    expect(pages.map(({ path }) => path)).toEqual(paths)
    const fileId = formatFileId('output/table.csv')
    const file = { id: fileId, object: 'container.file', path: 'output/table.csv', bytes: 8, source: 'assistant' }
    expect(await openRouter().containers.getContainerFile({ containerId: CONTAINER, fileId })).toMatchObject(file)
    expect(await openAi().containers.files.retrieve(fileId, { container_id: CONTAINER })).toMatchObject(file)
  })

  it('go back into a container by OpenAI, twice without an error', async () => {
    for (const { path, body } of FILES) {
      const { id: file_id } = await promote(path)
      const put = () => openAi().containers.files.create('sess_next', { file_id })
      const made = await put()
      const file = { id: formatFileId(path), object: 'container.file', container_id: 'sess_next', path }
      expect(made).toEqual({ ...file, bytes: body.length, created_at: expect.any(Number), source: 'user' })
      expect(await put()).toEqual(made)
      const content = await openAi().containers.files.content.retrieve(made.id, { container_id: 'sess_next' })
      expect((await bytesOf(content)).equals(body), path).toBe(true)
    }
  })

  it.each(libraries)('are deleted by $name, twice without an error', async ({ remove }) => {
    const { id: document } = await promote('output/table.csv')
    const first = await remove(document)
    expect(first).toMatchObject({ id: document })
    expect(await remove(document)).toEqual(first)
  })
})

describe('lists', () => {
  let expected: string[]
  beforeAll(async () => {
    await newWorkspace([SMALL])
    expected = []
    for (let i = 0; i < 11; i++) expected.push((await promote(SMALL.path)).id)
  })

  const oldestFirst = (limit?: number) => openAi().files.list({ limit: limit ?? 1, order: 'asc' })
  it.each([...libraries, { name: 'OpenAI, oldest first', list: oldestFirst, order: 'asc' }])(
    'of $name turn every page over, in its order',
    async ({ list, order }) => {
      const ids = order === 'asc' ? expected : expected.toReversed()
      for (const limit of [1, 4, 11, 100]) expect(await idsOf(list(limit))).toEqual(ids)
    },
  )

  it('of Anthropic take ids', async () => {
    const ids = [expected[3], expected[1], 'file_unknown'] as string[]
    expect(await idsOf(anthropic().files.list({ ids }))).toEqual([expected[3], expected[1]])
  })

  it('of OpenAI take a purpose', async () => {
    expect(await all(openAi().files.list({ purpose: 'assistants_output' }))).toHaveLength(11)
    expect(await all(openAi().files.list({ purpose: 'batch' }))).toHaveLength(0)
  })
})

it.each(libraries)(
  'deleting what a list shows, while $name still turns its pages, empties a full workspace: there is room at once',
  async ({ list, remove }) => {
    await newWorkspace([SMALL])
    await service().admin('workspaces', 'create', workspaceId(), '--quota', '7B')
    for (let i = 0; i < 7; i++) await promote(SMALL.path)
    await expect(promote(SMALL.path)).rejects.toMatchObject({ statusCode: 403 })
    let deleted = 0
    for await (const { id } of list(2)) {
      await remove(id)
      deleted++
    }
    expect(deleted).toBe(7)
    const left = await service().ask('GET', '/files', { key: key() })
    expect([left.headers.get('storage-used-bytes'), left.body.data]).toEqual(['0', []])
    await promote(SMALL.path)
  },
)
