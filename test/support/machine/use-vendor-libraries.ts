import Anthropic from '@anthropic-ai/sdk'
import { OpenRouter } from '@openrouter/sdk'
import AnthropicBefore from 'anthropic-sdk-old'
import OpenAI from 'openai'
import { afterAll, beforeAll } from 'vitest'
import { formatFileId, type WorkspaceId } from '../../../lib/ids.ts'
import { startService, type TestService } from './services.ts'

export const CONTAINER = 'sess_libraries'

export interface SourceFile {
  path: string
  body: Buffer
  contentType: string | undefined
}

/** A small file. */
export const SMALL: SourceFile = { path: 'a.txt', body: Buffer.from('a'), contentType: 'text/plain' }

/** The vendors' libraries at a service of the file's own, with the key of the workspace that was made last. */
export function useVendorLibraries() {
  let service: TestService
  let workspaceId: WorkspaceId
  let key: string
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.stop())

  const openRouter = (apiKey = key) => new OpenRouter({ apiKey, serverURL: service.demo.base_url })
  const openAi = (apiKey = key) => new OpenAI({ apiKey, baseURL: service.demo.base_url, maxRetries: 0 })
  // Without /v1: its paths begin with it.
  const rootUrl = () => service.demo.base_url.replace(/\/v1$/, '')
  const anthropic = (authToken = key) => new Anthropic({ apiKey: null, authToken, baseURL: rootUrl(), maxRetries: 0 })
  const anthropicBefore = (authToken = key) =>
    new AnthropicBefore({ apiKey: null, authToken, baseURL: rootUrl(), maxRetries: 0 })

  return {
    service: () => service,
    workspaceId: () => workspaceId,
    key: () => key,
    openRouter,
    openAi,
    anthropic,
    anthropicBefore,

    /** From now on, the libraries have its key. @param files of its container */
    async newWorkspace(files: SourceFile[]): Promise<void> {
      workspaceId = service.newWorkspaceId()
      key = await service.newKey(workspaceId)
      for (const { path, body, contentType } of files) {
        await service.putFile(workspaceId, CONTAINER, path, body, contentType)
      }
    },
    promote: (path: string) =>
      openRouter().containers.promoteContainerFile({ containerId: CONTAINER, fileId: formatFileId(path) }) as Promise<{
        id: string
      }>,

    /** Each library's own way to delete a document. */
    deletions: [
      ['OpenRouter', (fileId) => openRouter().files.delete({ fileId })],
      ['OpenAI', (id) => openAi().files.delete(id)],
      ['Anthropic', (id) => anthropic().files.delete(id)],
      ['Anthropic, beta', (id) => anthropic().beta.files.delete(id)],
      ['Anthropic before its new pagination', (id) => anthropicBefore().beta.files.delete(id)],
    ] satisfies [string, (id: string) => Promise<object>][],
  }
}

/** All pages of a list. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list = []
  for await (const item of items) list.push(item)
  return list
}
