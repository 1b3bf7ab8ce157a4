import { describe, expect, it } from 'vitest'
import { expectDocumented } from '../support/api/openapi.ts'
import { ask, request } from '../support/machine/requests.ts'
import { useService } from '../support/machine/services.ts'

const service = useService()
const port = () => Number(new URL(service().demo.base_url).port)
const origin = () => `http://127.0.0.1:${port()}`

/** A promotion of the demonstration's first file, with more headers. */
async function promote(headers: Record<string, string>, { target = '', body = '' } = {}) {
  const { demo } = service()
  const path = `${target}/v1/containers/${demo.container_id}/files/${demo.files[0]?.file_id}/promote`
  const authorization = `Bearer ${demo.standard_key}`
  const answer = await ask({ port: port(), path, method: 'POST', headers: { authorization, ...headers } }, body)
  expectDocumented({ ...answer, headers: answer.headers as Record<string, string>, body: JSON.parse(answer.body) })
  return answer
}

describe('the local gateway', () => {
  it.each<[what: string, headers: Record<string, string>, body?: string]>([
    ['a Trailer header', { trailer: 'x', 'transfer-encoding': 'chunked' }],
    ['a Content-Type for JSON without a body', { 'content-type': 'application/json' }],
    ['a wish to upgrade', { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' }],
    ['If-None-Match and Range', { 'if-none-match': '*', range: 'bytes=0-1' }],
    ['Expect: 100-continue', { expect: '100-continue' }, '{}'],
  ])('hands on a request with %s: 200', async (_, headers, body) => {
    const answer = await promote(headers, { body })
    expect(answer.status).toBe(200)
    expect(answer.headers, 'nothing for pages unless it was set up').not.toHaveProperty('access-control-allow-origin')
  })

  it('hands on a body that is no JSON, which the operation refuses: 400', async () => {
    const answer = await promote({ 'content-type': 'application/json' }, { body: '{' })
    expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('invalid_body') })
  })

  it('takes an absolute target as RFC 9112 says', async () => {
    expect((await promote({}, { target: 'http://anything.example' })).status).toBe(200)
  })

  it.each([
    ['POST', '/v1/x', { 'content-type': ';;' }],
    ['GET', 'http://example.com/v1/x', {}],
    ['OPTIONS', '*', {}],
  ])('knows no %s %s: 404', async (method, path, headers) => {
    const answer = await ask({ port: port(), method, path, headers })
    expect(answer).toMatchObject({ status: 404, body: expect.stringContaining('route_not_found') })
  })
})

describe('a body above the 6 MB of an invocation', () => {
  it.each<[string, RequestInit]>([
    ['', { body: 'x'.repeat(7e6) }],
    [' whose length nobody stated', { body: new Blob(['x'.repeat(7e6)]).stream(), duplex: 'half' }],
  ])('%s is answered with the error body: 413', async (_, init) => {
    const response = await request(origin(), '/v1/containers/a/files/b/promote', init)
    expectDocumented(response)
    expect(response).toMatchObject({ status: 413, body: { error: { metadata: { reason: 'request_too_large' } } } })
  })
})

describe('a body above 10 MB', () => {
  it('is refused in the words of API Gateway, without the error body: 413', async () => {
    const body = new Blob(['x'.repeat(11e6)]).stream()
    const sent = await fetch(`${origin()}/v1/files/b`, { method: 'DELETE', body, duplex: 'half' } as RequestInit)
    expect([sent.status, await sent.text()]).toEqual([413, 'HTTP content length exceeded 10485760 bytes.'])
  })
})
