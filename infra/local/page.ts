import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describeApi } from '../page/api-description.ts'
import { type PageFile, pageFiles } from '../page/page-files.ts'
import type { Demo } from './seed.ts'

/**
 * Serves the page beside the API.
 * @returns whether the request was for it
 */
export type PageHandler = (incoming: IncomingMessage, outgoing: ServerResponse, path: string) => boolean

/** The API reference with the demonstration filled in. */
export async function createPage(options: {
  root: string
  baseUrl: string
  demo: Demo
  /** Where the content of documents is fetched from. */
  s3Origin: string
}): Promise<PageHandler> {
  const { root, baseUrl, demo } = options
  const { origin } = new URL(baseUrl)
  const description = await describeApi({
    file: join(root, 'docs/openapi.yaml'),
    baseUrl,
    // Each click is a promotion of its own, so no key that the next one would repeat.
    examples: { container_id: demo.container_id, file_id: demo.files[0]?.file_id, 'Idempotency-Key': undefined },
  })
  const files = await pageFiles({ description, connectTo: [origin, options.s3Origin] })
  const demoFile = {
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify({ base_url: baseUrl, ...demo })),
  }
  files.set('demo.json', demoFile)

  return (incoming, outgoing, path) => {
    if (!['GET', 'HEAD'].includes(incoming.method ?? '')) return false
    // A page under another name would have another origin than the API, which allows no other.
    if (path === '/' && incoming.headers.host !== new URL(origin).host) {
      outgoing.writeHead(302, { ...HEADERS, location: `${origin}/` }).end()
      return true
    }
    const file = files.get(path === '/' ? 'index.html' : path.slice(1))
    if (file === undefined) return false
    sendFile(file, outgoing)
    return true
  }
}

function sendFile({ contentType, body }: PageFile, outgoing: ServerResponse): void {
  outgoing.writeHead(200, { ...HEADERS, 'content-type': contentType, 'content-length': body.length })
  outgoing.end(body)
}

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' }
