import { Agent, request } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** A request to AWS, as it is on the wire. */
export interface WireRequest {
  method: string
  /** Includes the query. */
  path: string
  /** Names in lower case. */
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

export interface WireAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer | string
}

/** S3 or DynamoDB, wherever it is. Rejects when there is no answer. */
export type Store = (request: WireRequest) => Promise<WireAnswer>

export function storeAt(endpoint: string): Store & { close(): void } {
  const agent = new Agent({ keepAlive: true })
  const { hostname: host, port } = new URL(endpoint)
  const ask: Store = ({ method, path, headers, body }) =>
    new Promise((resolve, reject) => {
      const asked = request({ host, port, agent, method, path, headers }, (answered) => {
        buffer(answered).then((bytes) => {
          resolve({ status: answered.statusCode ?? 502, headers: answered.headers, body: bytes })
        }, reject)
      })
      asked.on('error', reject).end(body)
    })
  return Object.assign(ask, { close: () => agent.destroy() })
}
