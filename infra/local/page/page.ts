import type { IncomingMessage, ServerResponse } from 'node:http'
import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3'
import { readConfig } from '../../../lib/config.ts'
import { HEADERS_OF_PROMOTION } from '../../../lib/http/headers.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { keysOfWorkspace } from '../../../lib/object-keys.ts'
import type { DemoFileContent } from '../stores/demo-file.ts'
import { createDemoUploads } from './demo-uploads.ts'
import { pageFiles } from './page-files.ts'

/** @returns whether the request was for the page */
export type PageHandler = (incoming: IncomingMessage, outgoing: ServerResponse, path: string) => Promise<boolean>

/** The API reference with the demonstration filled in. */
export async function createPage({ demo, s3 }: { demo: DemoFileContent; s3: S3Client }): Promise<PageHandler> {
  const { base_url, s3_endpoint } = demo
  const { origin, host } = new URL(base_url)
  const files = await pageFiles({
    baseUrl: base_url,
    connectTo: [new URL(s3_endpoint).origin],
    examples: { ...WITHOUT, container_id: demo.container_id, file_id: demo.files[0]?.file_id },
  })
  const putUpload = createDemoUploads({ demo, s3 })

  return async (incoming, outgoing, path) => {
    if (incoming.method === 'PUT' && path === '/demo/uploads') {
      const { status, body } = await putUpload(incoming)
      // A client that is still sending would lose a refusal.
      incoming.resume()
      outgoing.writeHead(status, { ...HEADERS, 'content-type': 'application/json' }).end(JSON.stringify(body))
      return true
    }
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD') return false
    // Under another name, the page would have another origin than the API, which allows no other.
    const page = PAGES[path]
    if (page !== undefined && incoming.headers.host !== host) {
      outgoing.writeHead(302, { ...HEADERS, location: origin + path }).end()
      return true
    }
    if (path === '/demo.json') {
      const body = JSON.stringify({ ...demo, containers: await containersOf(demo, s3) })
      outgoing.writeHead(200, { ...HEADERS, 'content-type': 'application/json' }).end(body)
      return true
    }
    const file = files.get(page ?? path.slice(1))
    if (file === undefined) return false
    outgoing.writeHead(200, { ...HEADERS, 'content-type': file.contentType, 'content-length': file.body.length })
    outgoing.end(file.body)
    return true
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

/** Each click is a promotion of its own, of whatever the file has become. */
const WITHOUT = Object.fromEntries(HEADERS_OF_PROMOTION.map((name) => [name, undefined]))
/** The demonstration, and the reference. */
const PAGES: Record<string, string | undefined> = { '/': 'index.html', '/reference': 'reference.html' }
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' }
