import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { text } from 'node:stream/consumers'
import { LOOPBACK } from '../../../infra/local/loopback.ts'
import { type AnyResponse, expectDocumented } from '../api/openapi.ts'

/** A POST, unless it says otherwise. */
export async function request(baseUrl: string, path: string, init: RequestInit): Promise<AnyResponse> {
  const response = await fetch(`${baseUrl}${path}`, { method: 'POST', ...init })
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.json() }
}

/** Sends what fetch lets no test say: Host, Expect, Sec-Fetch-…, any target. To this machine, unless it says otherwise. */
export async function ask(options: RequestOptions, body?: string | Buffer) {
  const asked = httpRequest({ host: LOOPBACK, ...options })
  const [answer] = (await once(asked.end(body), 'response')) as [IncomingMessage]
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) }
}

/** @returns the answer, which is as docs/openapi.yaml describes it */
export async function promote(
  baseUrl: string,
  { token, containerId, fileId }: { token: string; containerId: string; fileId: string },
  headers: Record<string, string> = {},
): Promise<AnyResponse> {
  const response = await request(baseUrl, `/containers/${containerId}/files/${fileId}/promote`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  })
  expectDocumented(response)
  return response
}
