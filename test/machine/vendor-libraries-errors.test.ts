import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { beforeAll, describe, expect, it } from 'vitest'
import { all, CONTAINER, useVendorLibraries } from '../support/machine/use-vendor-libraries.ts'

const { service, workspaceId, newWorkspace, openRouter, openAi, anthropic } = useVendorLibraries()

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
    const weak = await service().newKey(workspaceId(), ['containers:read'])
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
