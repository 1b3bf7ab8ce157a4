import { readdir, readFile } from 'node:fs/promises'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import mime from 'mime'
import { parseDocument, stringify } from 'yaml'
import { readConfig } from '../../../lib/config.ts'
import { ServiceError } from '../../../lib/errors.ts'
import { HEADERS_OF_PROMOTION } from '../../../lib/http/headers.ts'
import { formatFileId, parseContainerId, parseFileId, type WorkspaceId } from '../../../lib/ids.ts'
import { createObjectKeys, keysOfWorkspace } from '../../../lib/object-keys.ts'
import { arriving } from '../loopback.ts'
import type { DemoFileContent } from '../stores/demo-file.ts'

const ASSETS = join(import.meta.dirname, 'assets')
const DESCRIPTION = join(import.meta.dirname, '../../../docs/openapi.yaml')
const { version } = createRequire(import.meta.url)('../../../package.json')
const RENDERER = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
/** The demonstration, and the reference. */
const PAGES: Record<string, string | undefined> = { '/': 'index.html', '/reference': 'reference.html' }
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' }
const JSON_TYPE = { 'content-type': 'application/json' }
/** Each click is a promotion of its own, of whatever the file has become. */
const WITHOUT = Object.fromEntries(HEADERS_OF_PROMOTION.map((name) => [name, undefined]))

interface ApiDescription {
  servers: { url: string; description?: string }[]
  paths: Record<string, Record<string, { parameters?: { name: string; example?: unknown }[] }>>
}

/** @returns whether the request was for the page */
export type PageHandler = (incoming: IncomingMessage, outgoing: ServerResponse, path: string) => Promise<boolean>

/** The demonstration, the API reference, and what only they ask for. */
export async function createPage({ demo, s3 }: { demo: DemoFileContent; s3: S3Client }): Promise<PageHandler> {
  const { origin, host } = new URL(demo.base_url)
  const files = await pageFiles(demo)

  return async (incoming, outgoing, path) => {
    const reply = (status: number, headers: OutgoingHttpHeaders, body?: string | Buffer) => {
      outgoing.writeHead(status, { ...HEADERS, ...headers }).end(body)
      return true
    }
    if (incoming.method === 'PUT' && path === '/demo/uploads') {
      const { status, detail } = await putUpload(incoming, demo, s3)
      // A client that is still sending would lose a refusal.
      incoming.resume()
      return reply(status, JSON_TYPE, JSON.stringify({ detail }))
    }
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD') return false
    // Under another name, the page would have another origin than the API, which allows no other.
    const page = PAGES[path]
    if (page !== undefined && incoming.headers.host !== host) return reply(302, { location: origin + path })
    if (path === '/demo.json')
      return reply(200, JSON_TYPE, JSON.stringify({ ...demo, containers: await containersOf(demo, s3) }))
    const file = files.get(page ?? path.slice(1))
    if (file === undefined) return false
    return reply(200, { 'content-type': file.contentType, 'content-length': file.body.length }, file.body)
  }
}

/** The files of both pages, with the demonstration filled in: nothing comes from another host. */
async function pageFiles({ base_url, s3_endpoint, container_id, files: [first] }: DemoFileContent) {
  const files = new Map<string, { contentType: string; body: Buffer }>()
  const add = (name: string, body: Buffer | string) => {
    files.set(name, { contentType: mime.getType(name) ?? 'application/octet-stream', body: Buffer.from(body) })
  }
  const examples: Record<string, string | undefined> = { ...WITHOUT, container_id, file_id: first?.file_id }
  const origins = `${new URL(base_url).origin} ${new URL(s3_endpoint).origin}`
  for (const name of await readdir(ASSETS)) {
    const text = await readFile(join(ASSETS, name), 'utf8')
    add(name, text.replaceAll('{connect_to}', origins).replaceAll('{version}', version))
  }
  const ofRenderer = ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt']
  for (const name of ofRenderer) add(name, await readFile(join(RENDERER, name)))
  const description: ApiDescription = parseDocument(await readFile(DESCRIPTION, 'utf8'), { merge: true }).toJS()
  description.servers = [{ url: base_url }]
  const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods))
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    const { name, example } = parameter
    // Ids of one name may be of two kinds: an example is replaced only by one of its kind. JSON leaves out undefined.
    if (name in examples && kindOf(example) === kindOf(examples[name])) parameter.example = examples[name]
  }
  add('openapi.yaml', stringify(description, { aliasDuplicateObjects: false }))
  add('openapi.json', JSON.stringify(description, null, 2))
  return files
}

const kindOf = (example: unknown): string | undefined => /^(cfile|file)_/.exec(String(example))?.[1]

/**
 * Puts a file into a container of the demonstration's workspaces, for the page of npm start alone: it is no part of the
 * product's API. The query is workspace_id, container_id and path, the body the file; a refusal is a 400 with a sentence.
 */
async function putUpload(incoming: IncomingMessage, demo: DemoFileContent, s3: S3Client) {
  const refusal = (detail: string, status = 400) => ({ status, detail })
  const { origin, host, 'content-type': ContentType } = incoming.headers
  if (origin !== undefined && origin !== `http://${host}`) return refusal('Only the page of npm start may ask.', 403)
  const { searchParams: query } = new URL(incoming.url ?? '', 'http://page')
  const workspaceId = (query.get('workspace_id') ?? '') as WorkspaceId
  const workspaces = [demo.workspace_id, demo.full_workspace.workspace_id]
  if (!workspaces.includes(workspaceId)) return refusal('This is no workspace of the demonstration.')
  try {
    const containerId = parseContainerId(query.get('container_id') ?? '')
    const path = parseFileId(formatFileId(query.get('path') ?? ''))
    const keys = createObjectKeys(readConfig(demo.environment).keyTemplates)
    const Key = keys.sandboxFile({ workspaceId, containerId, path })
    const params = { Bucket: demo.sandbox_bucket, Key, ContentType, Body: Readable.from(arriving(incoming)) }
    // A PutObject of a stream throws where nobody can catch it when the stream breaks off.
    await new Upload({ client: s3, params }).done()
    return { status: 200, detail: undefined }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return refusal(error.detail.replace('path encoded in file_id', 'path'))
  }
}

/** Those of the demonstration, and others in its workspaces that have files. */
async function containersOf(demo: DemoFileContent, s3: S3Client) {
  const { sandbox } = readConfig(demo.environment).keyTemplates
  const found = [demo, demo.full_workspace].map(async ({ workspace_id, container_id }) => {
    const { prefix } = keysOfWorkspace(sandbox, workspace_id as WorkspaceId)
    const list = new ListObjectsV2Command({ Bucket: demo.sandbox_bucket, Prefix: prefix, Delimiter: '/' })
    const { CommonPrefixes = [] } = await s3.send(list)
    const others = CommonPrefixes.map(({ Prefix = '' }) => Prefix.slice(prefix.length, -1))
    return [...new Set([container_id, ...others])].map((container_id) => ({ workspace_id, container_id }))
  })
  return (await Promise.all(found)).flat()
}
