import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { beforeAll, describe, expect, it } from 'vitest'
import { all, CONTAINER, useVendorLibraries } from '../support/machine/use-vendor-libraries.ts'

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

describe('errors are of the libraries’ own classes', () => {
  beforeAll(() => newWorkspace([]))
  const id = 'file_unknown'
  const current = libraries.slice(0, 3)

  it.each(current)('for what is not there: $name', async ({ name, retrieve, download, remove }) => {
    for (const call of [retrieve, download, remove]) await expect(call(id)).rejects.toEqual(errorOf(404, name))
  })

  it('for a wrong key, and for one without the permission', async () => {
    const weak = await service().newKey(workspaceId(), ['containers:read'])
    for (const [key, status] of [
      ['wrong', 401],
      [weak, 403],
    ] as const) {
      await expect(openRouter(key).files.list()).rejects.toEqual(errorOf(status, 'OpenRouter'))
      await expect(openAi(key).files.retrieve(id)).rejects.toEqual(errorOf(status, 'OpenAI'))
      await expect(anthropic(key).files.delete(id)).rejects.toEqual(errorOf(status, 'Anthropic'))
    }
  })

  it('for parameters that are not offered or wrong', async () => {
    const ordered = () => openAi().containers.files.list(CONTAINER, { order: 'desc' })
    await expect(openRouter().files.list({ beforeId: 'file_1' })).rejects.toEqual(errorOf(400, 'OpenRouter'))
    await expect(all(openAi().files.list({ after: 'x' }))).rejects.toEqual(errorOf(400, 'OpenAI'))
    await expect(all(ordered())).rejects.toEqual(errorOf(400, 'OpenAI'))
    await expect(all(anthropic().files.list({ page: 'x' }))).rejects.toEqual(errorOf(400, 'Anthropic'))
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
