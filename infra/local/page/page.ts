import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { readConfig } from '../../../lib/config.ts'
import { ServiceError } from '../../../lib/errors.ts'
import { formatFileId, parseContainerId, parseFileId, type WorkspaceId } from '../../../lib/ids.ts'
import { createObjectKeys, keysOfWorkspace } from '../../../lib/object-keys.ts'
import { arriving } from '../loopback.ts'
import type { DemoFileContent } from '../stores/demo-file.ts'
import { pageFiles } from './page-files.ts'

/** @returns whether the request was for the page */
export type PageHandler = (incoming: IncomingMessage, outgoing: ServerResponse, path: string) => Promise<boolean>

/** The API reference with the demonstration filled in. */
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

/** The demonstration, and the reference. */
const PAGES: Record<string, string | undefined> = { '/': 'index.html', '/reference': 'reference.html' }
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' }
const JSON_TYPE = { 'content-type': 'application/json' }
