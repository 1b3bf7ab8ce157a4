import { createServer, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { close, LOOPBACK, listen } from '../../../infra/local/loopback.ts'
import { CALL_HEADER } from '../aws/name-calls.ts'
import { nameS3Call } from '../aws/name-s3-call.ts'
import { type Store, storeAt, type WireRequest } from '../aws/store.ts'

/** One request of the SDK to AWS, named by the code that makes it: `ledger.hold`, `CopyObject`, … */
export interface AwsCall extends Omit<WireRequest, 'body'> {
  name: string
  body: string
}

export type Fault =
  /** The proxy answers, and the store never sees the call. */
  | { kind: 'answer'; status: number; body?: string; headers?: Record<string, string> }
  /** The connection breaks before the store sees the call. */
  | { kind: 'refuse' }
  /** The store executes the call, and the connection breaks before its answer arrives. */
  | { kind: 'lose_answer' }
  /** The store never sees the call, and nothing ever answers. */
  | { kind: 'hang' }
  /** Like hang, but the store sees the call when {@link FaultProxy.deliverLate} is called. */
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

/**
 * Stands between the SDK and a store and makes chosen calls fail, on the wire, as a network or AWS would.
 * @param upstream the store, or its URL
 */
export async function startFaultProxy(upstream: Store | string): Promise<FaultProxy> {
  const remote = typeof upstream === 'string' ? storeAt(upstream) : undefined
  const store = remote ?? (upstream as Store)
  const late: (() => Promise<unknown>)[] = []

  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming).catch(() => undefined)
    // The caller broke off within its request.
    if (body === undefined) return
    const { method = '', url: path = '', headers } = incoming
    const call = toCall({ method, path, headers, body })
    proxy.calls.push(call)
    const fault = proxy.fault(call)
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'drip') return drip(outgoing)
    if (fault?.kind === 'refuse') return outgoing.destroy()
    if (fault?.kind === 'answer') {
      const { status, body: text = '', headers: more } = fault
      return outgoing.writeHead(status, { 'content-length': Buffer.byteLength(text), ...more }).end(text)
    }
    const ask = () => store({ method, path, headers: call.headers, body })
    if (fault?.kind === 'late') {
      late.push(ask)
      return
    }
    const answered = await ask().catch(() => undefined)
    if (answered === undefined || fault?.kind === 'lose_answer') outgoing.destroy()
    else outgoing.writeHead(answered.status, answered.headers).end(answered.body)
  })
  server.keepAliveTimeout = 60_000
  const port = await listen(server, 0)
  const proxy: FaultProxy = {
    endpoint: `http://${LOOPBACK}:${port}`,
    calls: [],
    fault: () => undefined,
    async deliverLate() {
      await Promise.all(late.splice(0).map((deliverOne) => deliverOne()))
    },
    async stop() {
      await close(server)
      remote?.close()
    },
  }
  return proxy
}

/** The request as it was sent, without the call's name that came with it. */
export function toCall({ method, path, headers: sent, body }: WireRequest): AwsCall {
  const { [CALL_HEADER]: name, ...headers } = sent
  const call = { method, path, headers, body: body.toString() }
  return { ...call, name: name === undefined ? operationOf(call) : String(name) }
}

export function drip(outgoing: ServerResponse): void {
  outgoing.writeHead(200, { 'content-type': 'application/xml' })
  const dripping = setInterval(() => outgoing.write(' '), 20)
  outgoing.on('close', () => clearInterval(dripping))
}

/** The operation of a call that nobody named. */
function operationOf({ method, path, headers }: Omit<AwsCall, 'name'>): string {
  const target = headers['x-amz-target']
  return target === undefined ? nameS3Call({ method, path }, headers) : String(target).replace(/^.*\./, '')
}
