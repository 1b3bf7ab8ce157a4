import { Agent, createServer, type IncomingMessage, type RequestOptions, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { close, LOOPBACK, listen } from '../../infra/local/listen.ts'
import { CALL_HEADER } from './aws/name-calls.ts'

/** One request of the SDK to AWS, named by the code that makes it: `ledger.take`, `CopyObject`, … */
export interface AwsCall {
  name: string
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: string
}

export type Fault =
  /** Answered instead of the store: it never sees the call. */
  | { kind: 'answer'; status: number; body?: string; headers?: Record<string, string> }
  /** The connection breaks before the store sees the call. */
  | { kind: 'refuse' }
  /** The store does it, and the connection breaks before its answer arrives. */
  | { kind: 'lose_answer' }
  /** The store never sees it, and nothing ever answers. */
  | { kind: 'hang' }
  /** As hang, but the store sees it when {@link FaultProxy.deliverLate} is called. */
  | { kind: 'late' }
  /** Status 200 at once, then white space for ever: what S3 sends while it completes an upload. */
  | { kind: 'drip' }

export interface FaultProxy {
  endpoint: string
  /** Every call since it was last cleared, the SDK's repetitions included. */
  calls: AwsCall[]
  /** Decides what happens to a call; undefined: nothing does. */
  fault: (call: AwsCall) => Fault | undefined
  /** Hands the calls that were held back to the store. */
  deliverLate(): Promise<void>
  stop(): Promise<void>
}

/** Stands between the SDK and a store and makes chosen calls fail, on the wire, as a network or AWS would. */
export async function startFaultProxy(upstream: string): Promise<FaultProxy> {
  const agent = new Agent({ keepAlive: true })
  const { hostname, port } = new URL(upstream)

  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming)
    const { [CALL_HEADER]: name, ...headers } = incoming.headers
    const raw = { method: incoming.method ?? '', path: incoming.url ?? '', headers, body: body.toString() }
    const call = { ...raw, name: name === undefined ? operationOf(raw) : String(name) }
    proxy.calls.push(call)
    const fault = proxy.fault(call)
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'drip') return drip(outgoing)
    if (fault?.kind === 'refuse') return outgoing.destroy()
    if (fault?.kind === 'answer') return answer(outgoing, fault)
    const options = {
      host: hostname,
      port,
      agent,
      method: incoming.method,
      path: incoming.url,
      headers,
    }
    if (fault?.kind === 'late') {
      late.push(() => deliver(options, body))
      return
    }
    const forwarded = request(options, (upstreamAnswer) => {
      if (fault?.kind === 'lose_answer') {
        upstreamAnswer.resume().on('end', () => outgoing.destroy())
        return
      }
      outgoing.writeHead(upstreamAnswer.statusCode ?? 502, upstreamAnswer.headers)
      upstreamAnswer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    forwarded.end(body)
  })
  const ownPort = await listen(server, 0)
  const late: (() => Promise<void>)[] = []
  const proxy: FaultProxy = {
    endpoint: `http://${LOOPBACK}:${ownPort}`,
    calls: [],
    fault: () => undefined,
    async deliverLate() {
      await Promise.all(late.splice(0).map((deliverOne) => deliverOne()))
    },
    async stop() {
      await close(server)
      agent.destroy()
    },
  }
  return proxy
}

function deliver(options: RequestOptions, body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const forwarded = request(options, (answered) => answered.resume().on('end', resolve))
    forwarded.on('error', reject)
    forwarded.end(body)
  })
}

function drip(outgoing: ServerResponse): void {
  outgoing.writeHead(200, { 'content-type': 'application/xml' })
  const dripping = setInterval(() => outgoing.write(' '), 50)
  outgoing.on('close', () => clearInterval(dripping))
}

function answer(
  outgoing: ServerResponse,
  { status, body = '', headers = {} }: Extract<Fault, { kind: 'answer' }>,
): void {
  outgoing.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers })
  outgoing.end(body)
}

/** Of a call that nobody named. */
function operationOf({ method, path, headers }: Omit<AwsCall, 'name' | 'body'>): string {
  const target = headers['x-amz-target']
  return target === undefined ? nameS3Call({ method, path }, headers) : String(target).replace(/^.*\./, '')
}

/** S3 calls by operation. */
export function nameS3Call(
  { method, path }: { method: string; path: string },
  headers: IncomingMessage['headers'],
): string {
  const query = new URL(path, 'http://s3').searchParams
  const isCopy = headers['x-amz-copy-source'] !== undefined
  if (method === 'HEAD') return 'HeadObject'
  if (method === 'GET')
    return query.has('uploads') ? 'ListMultipartUploads' : query.has('list-type') ? 'ListObjectsV2' : 'GetObject'
  if (method === 'DELETE') return query.has('uploadId') ? 'AbortMultipartUpload' : 'DeleteObject'
  if (method === 'POST') return query.has('uploads') ? 'CreateMultipartUpload' : 'CompleteMultipartUpload'
  if (query.has('partNumber')) return isCopy ? 'UploadPartCopy' : 'UploadPart'
  return isCopy ? 'CopyObject' : 'PutObject'
}
