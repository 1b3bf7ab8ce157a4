import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describeApi } from '../page/api-description.ts'
import { type PageFile, pageFiles } from '../page/page-files.ts'
import type { Demo } from './seed.ts'

/** A document's bytes, as the page offers them. */
export interface Download {
  contentType: string
  sizeBytes: number
  body: Readable
}

/** What npm start serves besides the API. @returns whether the request was for that */
export type PageHandler = (incoming: IncomingMessage, outgoing: ServerResponse, path: string) => boolean

const DOCUMENT = /^\/demo\/documents\/([A-Za-z0-9_-]+)\/(file_[A-Za-z0-9]+)$/
/** The page hands out the demonstration's keys: to who asks this machine, not to a page that gave its own name our address. */
const OWN_HOST = /^(127\.0\.0\.1|localhost)(:\d+)?$/

/** The API reference with the demonstration filled in. */
export async function createPage(options: {
  root: string
  baseUrl: string
  demo: Demo
  findDocument(workspaceId: string, documentId: string): Promise<Download | undefined>
}): Promise<PageHandler> {
  const { root, baseUrl, demo } = options
  const description = await describeApi({
    file: join(root, 'docs/openapi.yaml'),
    baseUrl,
    // Each click of the page is a promotion of its own: no key that the next one would repeat.
    examples: { container_id: demo.container_id, file_id: demo.files[0]?.file_id, 'Idempotency-Key': undefined },
  })
  const files = await pageFiles({ description, apiOrigin: new URL(baseUrl).origin })
  const demoFile = {
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify({ base_url: baseUrl, ...demo })),
  }
  files.set('demo.json', demoFile)

  return (incoming, outgoing, path) => {
    if (!['GET', 'HEAD'].includes(incoming.method ?? '') || !OWN_HOST.test(incoming.headers.host ?? '')) return false
    const [, workspaceId, documentId] = DOCUMENT.exec(path) ?? []
    if (workspaceId !== undefined && documentId !== undefined) {
      void sendDocument(options.findDocument(workspaceId, documentId), outgoing)
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

async function sendDocument(found: Promise<Download | undefined>, outgoing: ServerResponse): Promise<void> {
  try {
    const document = await found
    if (document === undefined) {
      outgoing.writeHead(404, { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' })
      outgoing.end('There is no such document.\n')
      return
    }
    const headers = { 'content-type': document.contentType, 'content-length': document.sizeBytes }
    outgoing.writeHead(200, { ...HEADERS, ...headers, 'content-disposition': 'attachment' })
    await pipeline(document.body, outgoing)
  } catch {
    outgoing.destroy()
  }
}

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' }
