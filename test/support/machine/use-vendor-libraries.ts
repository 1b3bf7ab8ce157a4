import Anthropic from '@anthropic-ai/sdk'
import { OpenRouter } from '@openrouter/sdk'
import AnthropicBefore from 'anthropic-sdk-old'
import OpenAI from 'openai'
import { formatFileId, type WorkspaceId } from '../../../lib/ids.ts'
import { useService } from './services.ts'

export const CONTAINER = 'sess_libraries'

export interface SourceFile {
  path: string
  body: Buffer
  contentType: string | undefined
}

/** A small file. */
export const SMALL: SourceFile = { path: 'a.txt', body: Buffer.from('a'), contentType: 'text/plain' }

type File = { id: string }
type Content = Response | ReadableStream

/** Each library has its own of these for documents. */
interface Library {
  name: string
  /** Whether a list begins with the oldest. */
  order: 'asc' | 'desc'
  /** @param limit of a page; undefined: the library's own */
  list(limit?: number): AsyncIterable<File>
  retrieve(id: string): Promise<object>
  download(id: string): Promise<Content>
  remove(id: string): Promise<object>
}

/** Anthropic's files, of the current library, its beta, or the library before. */
interface AnthropicFiles {
  list(query: { limit?: number }): AsyncIterable<File>
  retrieveMetadata(id: string): Promise<object>
  download(id: string): Promise<Response>
  delete(id: string): Promise<object>
}

/** The vendors' libraries at a service of the file's own, with the key of the workspace that was made last. */
export function useVendorLibraries() {
  const service = useService()
  let workspaceId: WorkspaceId
  let key: string

  const openRouter = (apiKey = key) => new OpenRouter({ apiKey, serverURL: service().demo.base_url })
  const openAi = (apiKey = key) => new OpenAI({ apiKey, baseURL: service().demo.base_url, maxRetries: 0 })
  // Without /v1, because the library's paths begin with it.
  const rootUrl = () => service().demo.base_url.replace(/\/v1$/, '')
  const anthropic = (authToken = key) => new Anthropic({ apiKey: null, authToken, baseURL: rootUrl(), maxRetries: 0 })
  const anthropicBefore = (authToken = key) =>
    new AnthropicBefore({ apiKey: null, authToken, baseURL: rootUrl(), maxRetries: 0 })

  const ofAnthropic = (name: string, files: () => AnthropicFiles): Library => ({
    name,
    order: 'desc',
    list: (limit) => files().list(limit === undefined ? {} : { limit }),
    retrieve: (id) => files().retrieveMetadata(id),
    download: (id) => files().download(id),
    remove: (id) => files().delete(id),
  })
  const libraries: Library[] = [
    {
      name: 'OpenRouter',
      order: 'asc',
      async *list(limit) {
        for await (const { result } of await openRouter().files.list({ limit }))
          yield* (result as { data: File[] }).data
      },
      retrieve: (fileId) => openRouter().files.retrieve({ fileId }),
      download: (fileId) => openRouter().files.download({ fileId }),
      remove: (fileId) => openRouter().files.delete({ fileId }),
    },
    {
      name: 'OpenAI',
      order: 'desc',
      list: (limit) => openAi().files.list(limit === undefined ? {} : { limit }),
      retrieve: (id) => openAi().files.retrieve(id),
      download: (id) => openAi().files.content(id),
      remove: (id) => openAi().files.delete(id),
    },
    ofAnthropic('Anthropic', () => anthropic().files),
    ofAnthropic('Anthropic, beta', () => anthropic().beta.files),
    ofAnthropic('Anthropic before its new pagination', () => anthropicBefore().beta.files),
  ]

  return {
    service,
    workspaceId: () => workspaceId,
    key: () => key,
    openRouter,
    openAi,
    anthropic,
    libraries,

    /** From now on, the libraries have its key. @param files of its container */
    async newWorkspace(files: SourceFile[]): Promise<void> {
      workspaceId = service().newWorkspaceId()
      key = await service().newKey(workspaceId)
      for (const { path, body, contentType } of files) {
        await service().putFile(workspaceId, CONTAINER, path, body, contentType)
      }
    },
    promote: (path: string) =>
      openRouter().containers.promoteContainerFile({
        containerId: CONTAINER,
        fileId: formatFileId(path),
      }) as Promise<File>,
  }
}

export const bytesOf = async (content: Content) =>
  Buffer.from(await (content instanceof Response ? content : new Response(content)).arrayBuffer())

/** All pages of a list. */
export const all = <Item>(items: AsyncIterable<Item>) => Array.fromAsync(items)
