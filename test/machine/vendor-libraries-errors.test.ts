import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { beforeAll, describe, expect, it } from 'vitest'
import { formatFileId } from '../../lib/ids.ts'
import { isInstalled } from '../support/fenced-blocks.ts'
import { jsonLines } from '../support/machine/admin.ts'
import { run } from '../support/machine/program.ts'
import { all, CONTAINER, SMALL, useVendorLibraries } from '../support/machine/use-vendor-libraries.ts'

const { service, workspaceId, newWorkspace, libraries, openRouter, openAi, anthropic } = useVendorLibraries()

/** By the status: the class of each library, which OpenRouter's tells by its name alone. */
const errorOf = (status: 400 | 401 | 403 | 404, library: string) => {
  const [name, ofOpenAi, ofAnthropic] = {
    400: ['BadRequestResponseError', OpenAI.BadRequestError, Anthropic.BadRequestError] as const,
    401: ['UnauthorizedResponseError', OpenAI.AuthenticationError, Anthropic.AuthenticationError] as const,
    403: ['ForbiddenResponseError', OpenAI.PermissionDeniedError, Anthropic.PermissionDeniedError] as const,
    404: ['NotFoundResponseError', OpenAI.NotFoundError, Anthropic.NotFoundError] as const,
  }[status]
  if (library === 'OpenRouter') return expect.objectContaining({ name, statusCode: status })
  return expect.any(library === 'OpenAI' ? ofOpenAi : ofAnthropic)
}

const PAGE = readFileSync('docs/clients.md', 'utf8')
/** Where the page says that the detail is in an error of the library. */
const detailIn = (library: string) => new RegExp(`^\\|.*${library}.* \`error\\.(.+)\``, 'm').exec(PAGE)?.[1] ?? ''

/** A library throws classes of its own. */
async function failureOf(call: () => unknown) {
  return (call() as Promise<unknown>).then(
    () => expect.unreachable('it was to fail'),
    (error) => error,
  )
}

describe('errors are of the libraries’ own classes', () => {
  beforeAll(() => newWorkspace([]))
  const id = 'file_unknown'
  const current = libraries.slice(0, 3)

  it.each(current)('for what is not there: $name', async ({ name, retrieve, download, remove }) => {
    for (const call of [retrieve, download, remove]) await expect(call(id)).rejects.toEqual(errorOf(404, name))
  })

  it('for a wrong key, and for one without the permission: what each shows is true, and it has the detail', async () => {
    const weak = await service().newKey(workspaceId(), ['containers:read'])
    const calls: Record<string, (key: string) => unknown> = {
      OpenRouter: (key) => openRouter(key).files.list(),
      OpenAI: (key) => openAi(key).files.retrieve(id),
      Anthropic: (key) => anthropic(key).files.retrieveMetadata(id),
    }
    for (const [key, status, message, detail] of [
      ['wrong', 401, 'Invalid API key', /^This is not an API key of this service/],
      [weak, 403, 'operation, or keys with the permission for it', /^This API key lacks the permission files:read\.$/],
    ] as const) {
      for (const [library, call] of Object.entries(calls)) {
        const failure = await failureOf(() => call(key))
        expect(failure).toEqual(errorOf(status, library))
        expect(failure.message).toContain(message)
        const path = detailIn(library).split('.')
        expect(path.reduce((at, name) => at[name], failure)).toMatch(detail)
      }
    }
  })

  it.each([
    ['openai', 'OpenAI(base_url=base + "/v1", api_key="wrong").files.list()'],
    ['anthropic', 'Anthropic(base_url=base, auth_token="wrong", api_key=None).beta.files.list()'],
  ])('of Python’s %s, too', async (library, call) => {
    const program = `from ${library} import *\nbase = "${new URL(service().demo.base_url).origin}"\ntry:
    ${call}\nexcept Exception as error:\n    print(error.${detailIn(library)})`
    if (!(await isInstalled(`the detail by Python's ${library}`, 'python', program))) return
    const { stdout } = await run('python3', ['-c', program])
    expect(stdout).toMatch(/^This is not an API key of this service/)
  })

  it('with the id of the request, as in every answer, where each library looks for it', async () => {
    const failed = [() => openAi().files.retrieve(id), () => anthropic().files.retrieveMetadata(id)]
    const listed = [openAi().files.list().withResponse(), anthropic().files.list().withResponse()]
    const ofErrors = (await Promise.all(failed.map(failureOf))).map(({ requestID }) => requestID)
    const ofAnswers = (await Promise.all(listed)).map(({ request_id }) => request_id)
    expect([...ofErrors, ...ofAnswers]).toEqual(Array(4).fill(expect.stringMatching(/^[0-9a-f-]{36}$/)))
  })

  it('for parameters that are not offered or wrong', async () => {
    const ordered = () => openAi().containers.files.list(CONTAINER, { order: 'desc' })
    await expect(openRouter().files.list({ beforeId: 'file_1' })).rejects.toEqual(errorOf(400, 'OpenRouter'))
    await expect(all(openAi().files.list({ after: 'x' }))).rejects.toEqual(errorOf(400, 'OpenAI'))
    await expect(all(ordered())).rejects.toEqual(errorOf(400, 'OpenAI'))
    await expect(all(anthropic().files.list({ page: 'x' }))).rejects.toEqual(errorOf(400, 'Anthropic'))
  })
})

it('an expiry is told and refused as each vendor does it', { timeout: 30_000 }, async () => {
  await newWorkspace([SMALL])
  const promoteFor = (headers: Record<string, string>) =>
    openAi().post(`/containers/${CONTAINER}/files/${formatFileId(SMALL.path)}/promote`, { headers })
  const [kept, expiring] = [await promoteFor({}), await promoteFor({ 'File-Expires-In': '3600' })] as { id: string }[]
  const ids = [kept?.id ?? '', expiring?.id ?? ''] as const
  const [forEver, shown] = await Promise.all(ids.map((id) => openAi().files.retrieve(id)))
  expect([forEver?.expires_at, (shown?.expires_at ?? 0) - (shown?.created_at ?? 0)]).toEqual([undefined, 3600])
  const metadata = await Promise.all(ids.map((id) => anthropic().files.retrieveMetadata(id)))
  const expiresAt = new Date((shown?.expires_at ?? 0) * 1000)
  expect(metadata.map((each) => each.expires_at)).toEqual([null, expiresAt.toISOString()])
  expect((await all(anthropic().files.list())).map((each) => each.expires_at)).toEqual([expiresAt.toISOString(), null])

  const expire = ['documents', 'expire', workspaceId(), ids[1], '--in', '1s', '--json']
  const [soon] = jsonLines(await service().admin(...expire))
  await sleep(Date.parse(`${soon?.expires_at}`) - Date.now())
  for (const { name, retrieve, download, remove } of libraries.slice(0, 3)) {
    for (const call of [retrieve, download, remove]) {
      const failure = await failureOf(() => call(ids[1]))
      expect(failure, name).toEqual(errorOf(404, name))
      if (name === 'Anthropic') expect(failure).toBeInstanceOf(Anthropic.FileExpiredError)
    }
  }
  expect((await all(openAi().files.list())).map(({ id }) => id)).toEqual([ids[0]])
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
    'OpenAI containers.files.delete': () => openAi().containers.files.delete('cfile_YQ', { container_id: CONTAINER }),
    'Anthropic files.upload': () => anthropic().files.upload({ file }),
    'Anthropic beta.files.upload': () => anthropic().beta.files.upload({ file }),
  }

  it('OpenAI containers.files.create with a file: 400, and why', async () => {
    const failure = await failureOf(() => openAi().containers.files.create(CONTAINER, { file }))
    expect([failure.status, JSON.stringify(failure.error)]).toEqual([
      400,
      expect.stringContaining('with file_id, path, on_existing, and no form with a file'),
    ])
  })

  it.each(Object.entries(refused))('%s', async (name, call) => {
    const failure = await failureOf(call)
    expect(failure.statusCode ?? failure.status).toBe(404)
    const body = JSON.stringify(failure.error ?? failure.body)
    expect(body).toContain('Resource not found')
    if (/ (beta\.)?files\.(create|upload)$/.test(name)) expect(body).toContain('There are no uploads')
  })
})
