import Anthropic from '@anthropic-ai/sdk'
import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { OpenRouter } from '@openrouter/sdk'
import AnthropicBefore from 'anthropic-sdk-old'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newWorkspaceItem } from '../../lib/aws/workspace-item.ts'
import { formatFileId, type WorkspaceId } from '../../lib/ids.ts'
import { sharedService, type TestService } from '../support/local-service/services.ts'

const MIB = 1024 * 1024
const CONTAINER = 'sess_libraries'
/** The local service copies files above 8 MiB in parts: this one in two. */
const LARGE = Buffer.alloc(9 * MIB, Buffer.from('0123456789abcdefghijklmnopqrstuv'))
const FILES: { path: string; body: Buffer; contentType: string | undefined }[] = [
  { path: 'empty.txt', body: Buffer.alloc(0), contentType: 'text/plain' },
  { path: 'output/table.csv', body: Buffer.from('a,b\n1,2\n'), contentType: 'text/csv' },
  { path: 'large.bin', body: LARGE, contentType: undefined },
  { path: 'отчёты/итог – 結果 📄.txt', body: Buffer.from('Привет, 世界\n'), contentType: 'text/plain; charset=utf-8' },
  { path: `it's "100%" ;=;.html`, body: Buffer.from('<script>alert(1)</script>'), contentType: 'text/html' },
]

let service: TestService
let workspaceId: WorkspaceId
let key: string
beforeAll(async () => {
  service = await sharedService()
})
afterAll(() => service.stop())

const openRouter = (apiKey = key) => new OpenRouter({ apiKey, serverURL: service.demo.base_url })
const openAi = (apiKey = key) => new OpenAI({ apiKey, baseURL: service.demo.base_url, maxRetries: 0 })
// Without /v1: its paths begin with it.
const rootUrl = () => service.demo.base_url.replace(/\/v1$/, '')
const anthropic = (authToken = key) => new Anthropic({ apiKey: null, authToken, baseURL: rootUrl(), maxRetries: 0 })
const anthropicBefore = (authToken = key) =>
  new AnthropicBefore({ apiKey: null, authToken, baseURL: rootUrl(), maxRetries: 0 })

async function newWorkspace(files = FILES): Promise<void> {
  workspaceId = service.newWorkspaceId()
  key = await service.newKey(workspaceId)
  for (const { path, body, contentType } of files) {
    await service.putFile(workspaceId, CONTAINER, path, body, contentType)
  }
}

const promote = (path: string) =>
  openRouter().containers.promoteContainerFile({ containerId: CONTAINER, fileId: formatFileId(path) }) as Promise<{
    id: string
  }>

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list = []
  for await (const item of items) list.push(item)
  return list
}

async function listOpenRouter(limit: number): Promise<string[]> {
  const pages = await all(await openRouter().files.list({ limit }))
  return pages.flatMap(({ result }) => (result as { data: { id: string }[] }).data.map(({ id }) => id))
}
const idsOf = (items: { id: string }[]) => items.map(({ id }) => id)

/** Each library's own way to list, a few to a page, and whether it begins with the oldest. */
const LISTS: [string, (limit: number) => Promise<string[]>, 'asc' | 'desc'][] = [
  ['OpenRouter', listOpenRouter, 'asc'],
  ['OpenAI', async (limit) => idsOf(await all(openAi().files.list({ limit }))), 'desc'],
  ['OpenAI, oldest first', async (limit) => idsOf(await all(openAi().files.list({ limit, order: 'asc' }))), 'asc'],
  ['Anthropic', async (limit) => idsOf(await all(anthropic().files.list({ limit }))), 'desc'],
  ['Anthropic, beta', async (limit) => idsOf(await all(anthropic().beta.files.list({ limit }))), 'desc'],
  [
    'Anthropic before its new pagination',
    async (limit) => idsOf(await all(anthropicBefore().beta.files.list({ limit }))),
    'desc',
  ],
]

/** Each library's own way to fetch a document, and what it tells of it. */
const DOWNLOADS: [string, (id: string) => Promise<Response | ReadableStream>][] = [
  ['OpenRouter', (fileId) => openRouter().files.download({ fileId })],
  ['OpenAI', (id) => openAi().files.content(id)],
  ['Anthropic', (id) => anthropic().files.download(id)],
  ['Anthropic, beta', (id) => anthropic().beta.files.download(id)],
  ['Anthropic before its new pagination', (id) => anthropicBefore().beta.files.download(id)],
]
const DELETIONS: [string, (id: string) => Promise<object>][] = [
  ['OpenRouter', (fileId) => openRouter().files.delete({ fileId })],
  ['OpenAI', (id) => openAi().files.delete(id)],
  ['Anthropic', (id) => anthropic().files.delete(id)],
  ['Anthropic, beta', (id) => anthropic().beta.files.delete(id)],
  ['Anthropic before its new pagination', (id) => anthropicBefore().beta.files.delete(id)],
]

describe('lists', () => {
  let expected: string[]
  beforeAll(async () => {
    await newWorkspace([{ path: 'a.txt', body: Buffer.from('a'), contentType: 'text/plain' }])
    expected = []
    for (let i = 0; i < 11; i++) expected.push((await promote('a.txt')).id)
  })

  it.each(LISTS)('of %s turn every page over, in its order', async (_, list, order) => {
    const ids = order === 'asc' ? expected : expected.toReversed()
    for (const limit of [1, 4, 11, 100]) expect(await list(limit)).toEqual(ids)
  })

  it('of Anthropic take ids', async () => {
    const ids = [expected[3], expected[1], 'file_unknown'] as string[]
    expect(idsOf(await all(anthropic().files.list({ ids })))).toEqual([expected[3], expected[1]])
  })

  it('of OpenAI take a purpose', async () => {
    expect(await all(openAi().files.list({ purpose: 'assistants_output' }))).toHaveLength(11)
    expect(await all(openAi().files.list({ purpose: 'batch' }))).toHaveLength(0)
  })
})

describe('list, then delete what the list shows', () => {
  it.each(
    DELETIONS.map(([name, remove], index) => [
      name,
      (LISTS.find(([each]) => each === name) ?? LISTS[index])?.[1],
      remove,
    ]) as [string, (limit: number) => Promise<string[]>, (id: string) => Promise<object>][],
  )('by %s empties the workspace, and the next promotion has the room at once', async (_, list, remove) => {
    await newWorkspace([{ path: 'a.txt', body: Buffer.from('a'), contentType: 'text/plain' }])
    const Item = marshall(newWorkspaceItem(workspaceId, 7))
    await service.dynamoDb.send(new PutItemCommand({ TableName: service.demo.workspaces_table, Item }))
    for (let i = 0; i < 7; i++) await promote('a.txt')
    await expect(promote('a.txt')).rejects.toMatchObject({ statusCode: 403 })
    for (const id of await list(3)) await remove(id)
    expect(await list(3)).toEqual([])
    const used = await fetch(`${service.demo.base_url}/files`, { headers: { authorization: `Bearer ${key}` } })
    expect(used.headers.get('storage-used-bytes')).toBe('0')
    await promote('a.txt')
  })

  it.each<[string, () => AsyncIterable<{ id: string }>, (id: string) => Promise<object>]>([
    ['OpenAI', () => openAi().files.list({ limit: 2 }), (id) => openAi().files.delete(id)],
    ['Anthropic', () => anthropic().files.list({ limit: 2 }), (id) => anthropic().files.delete(id)],
    [
      'Anthropic before its new pagination',
      () => anthropicBefore().beta.files.list({ limit: 2 }),
      (id) => anthropicBefore().beta.files.delete(id),
    ],
    [
      'OpenRouter',
      async function* () {
        for await (const { result } of await openRouter().files.list({ limit: 2 })) {
          yield* (result as { data: { id: string }[] }).data
        }
      },
      (fileId) => openRouter().files.delete({ fileId }),
    ],
  ])('works while the iterator of %s is still turning pages', async (_, list, remove) => {
    await newWorkspace([{ path: 'a.txt', body: Buffer.from('a'), contentType: 'text/plain' }])
    for (let i = 0; i < 7; i++) await promote('a.txt')
    let deleted = 0
    for await (const { id } of list()) {
      await remove(id)
      deleted++
    }
    expect(deleted).toBe(7)
  })
})

describe('downloads', () => {
  const ids = new Map<string, string>()
  beforeAll(async () => {
    await newWorkspace()
    for (const { path } of FILES) ids.set(path, (await promote(path)).id)
  }, 60_000)

  it.each(DOWNLOADS)('by %s have the bytes of every file', async (name, download) => {
    for (const { path, body, contentType } of FILES) {
      const answer = await download(ids.get(path) ?? '')
      const response = answer instanceof Response ? answer : new Response(answer)
      const bytes = Buffer.from(await response.arrayBuffer())
      expect(bytes.equals(body), path).toBe(true)
      if (name === 'OpenRouter') continue
      expect(response.headers.get('content-type'), path).toBe(contentType ?? 'application/octet-stream')
      const disposition = response.headers.get('content-disposition') ?? ''
      expect(disposition).toMatch(/^attachment; /)
      const encoded = /filename\*=UTF-8''([^;]+)$/.exec(disposition)?.[1]
      expect(decodeURIComponent(encoded ?? '')).toBe(path.split('/').at(-1))
    }
  })

  it.each<[string, (id: string) => Promise<Response | ReadableStream>]>([
    [
      'OpenRouter',
      (fileId) => openRouter().containers.downloadContainerFileContent({ containerId: CONTAINER, fileId }),
    ],
    ['OpenAI', (id) => openAi().containers.files.content.retrieve(id, { container_id: CONTAINER })],
  ])('of container files by %s have the bytes of every file', async (_, download) => {
    for (const { path, body } of FILES) {
      const answer = await download(formatFileId(path))
      const response = answer instanceof Response ? answer : new Response(answer)
      expect(Buffer.from(await response.arrayBuffer()).equals(body), path).toBe(true)
    }
  })

  it('resume where they were broken off: S3 takes a Range', async () => {
    const id = ids.get('large.bin') ?? ''
    const response = await openAi().files.content(id, { headers: { Range: `bytes=${MIB}-${MIB + 9}` } })
    expect([response.status, await response.text()]).toEqual([206, LARGE.subarray(MIB, MIB + 10).toString()])
  })

  it('are refused by S3 beside a second authentication, which is why no library sends one there', async () => {
    const headers = { authorization: `Bearer ${key}` }
    const url = `${service.demo.base_url}/files/${ids.get('empty.txt')}/content`
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
    await newWorkspace()
    id = (await promote('output/table.csv')).id
  })

  it('are shown in the words of each library', async () => {
    const native = { type: 'file', filename: 'output/table.csv', downloadable: true }
    expect(await openRouter().files.retrieve({ fileId: id })).toMatchObject({
      ...native,
      shape: 'openrouter',
      id,
      mimeType: 'text/csv',
      sizeBytes: 8,
    })
    const compatA = { ...native, id, mime_type: 'text/csv', size_bytes: 8 }
    expect(await anthropic().files.retrieveMetadata(id)).toMatchObject(compatA)
    expect(await anthropic().beta.files.retrieveMetadata(id)).toMatchObject(compatA)
    expect(await anthropicBefore().beta.files.retrieveMetadata(id)).toMatchObject(compatA)
    const compatB = { object: 'file', id, bytes: 8, purpose: 'assistants_output', status: 'processed' }
    expect(await openAi().files.retrieve(id)).toMatchObject(compatB)
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

  it.each(DELETIONS)('are deleted by %s, twice without an error', async (_, remove) => {
    const { id: document } = await promote('output/table.csv')
    const first = await remove(document)
    expect(first).toMatchObject({ id: document })
    expect(await remove(document)).toEqual(first)
  })
})

describe('errors are of the libraries’ own classes', () => {
  beforeAll(() => newWorkspace([]))
  const id = 'file_unknown'

  it('for what is not there', async () => {
    const notFound = expect.objectContaining({ name: 'NotFoundResponseError', statusCode: 404 })
    await expect(openRouter().files.retrieve({ fileId: id })).rejects.toEqual(notFound)
    await expect(openRouter().files.download({ fileId: id })).rejects.toEqual(notFound)
    await expect(openRouter().files.delete({ fileId: id })).rejects.toEqual(notFound)
    const { files } = openAi()
    for (const call of [() => files.retrieve(id), () => files.content(id), () => files.delete(id)]) {
      await expect(call()).rejects.toBeInstanceOf(OpenAI.NotFoundError)
    }
    const ofAnthropic = anthropic().files
    const calls = [() => ofAnthropic.retrieveMetadata(id), () => ofAnthropic.download(id), () => ofAnthropic.delete(id)]
    for (const call of calls) await expect(call()).rejects.toBeInstanceOf(Anthropic.NotFoundError)
  })

  it('for a wrong key, and for one without the permission', async () => {
    const weak = await service.newKey(workspaceId, ['containers:read'])
    await expect(openAi('wrong').files.retrieve(id)).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
    await expect(openAi(weak).files.retrieve(id)).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError)
    await expect(anthropic('wrong').files.delete(id)).rejects.toBeInstanceOf(Anthropic.AuthenticationError)
    await expect(anthropic(weak).files.delete(id)).rejects.toBeInstanceOf(Anthropic.PermissionDeniedError)
    await expect(openRouter('wrong').files.list()).rejects.toMatchObject({ name: 'UnauthorizedResponseError' })
    await expect(openRouter(weak).files.list()).rejects.toMatchObject({ name: 'ForbiddenResponseError' })
  })

  it('for parameters that are not offered or wrong', async () => {
    await expect(all(openAi().files.list({ after: 'x' }))).rejects.toBeInstanceOf(OpenAI.BadRequestError)
    await expect(openRouter().files.list({ beforeId: 'file_1' })).rejects.toMatchObject({
      name: 'BadRequestResponseError',
    })
    await expect(all(anthropic().files.list({ page: 'x' }))).rejects.toBeInstanceOf(Anthropic.BadRequestError)
    await expect(all(openAi().containers.files.list(CONTAINER, { order: 'desc' }))).rejects.toBeInstanceOf(
      OpenAI.BadRequestError,
    )
  })
})

describe('what is not offered is a 404 in our words', () => {
  beforeAll(() => newWorkspace([]))
  const file = new File(['x'], 'x.txt')
  const refused = {
    'OpenRouter files.upload': () => openRouter().files.upload({ requestBody: { file } }),
    'OpenAI files.create': () => openAi().files.create({ file, purpose: 'assistants' }),
    'OpenAI uploads.create': () =>
      openAi().uploads.create({ bytes: 1, filename: 'x', mime_type: 'text/plain', purpose: 'assistants' }),
    'OpenAI containers.create': () => openAi().containers.create({ name: 'x' }),
    'OpenAI containers.retrieve': () => openAi().containers.retrieve(CONTAINER),
    'OpenAI containers.list': () => all(openAi().containers.list()),
    'OpenAI containers.delete': () => openAi().containers.delete(CONTAINER),
    'OpenAI containers.files.create': () => openAi().containers.files.create(CONTAINER, { file_id: 'file_1' }),
    'OpenAI containers.files.delete': () => openAi().containers.files.delete('cfile_YQ', { container_id: CONTAINER }),
    'Anthropic files.upload': () => anthropic().files.upload({ file }),
    'Anthropic beta.files.upload': () => anthropic().beta.files.upload({ file }),
  }

  it.each(Object.entries(refused))('%s', async (_, call) => {
    const failure = await (call() as Promise<unknown>).then(
      () => undefined,
      (error) => error,
    )
    expect(failure.statusCode ?? failure.status).toBe(404)
    expect(JSON.stringify(failure.error ?? failure.body)).toContain('Resource not found')
  })
})
