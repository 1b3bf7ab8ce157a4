import { describe, expect, it } from 'vitest'
import { expectDocumented } from '../support/api/openapi.ts'
import { sendRaw } from '../support/api/raw-http.ts'
import { request } from '../support/machine/requests.ts'
import { expectSound, useRawGateway } from '../support/machine/use-raw-gateway.ts'

const { port, promotion } = useRawGateway()

describe('the local gateway', () => {
  const lines: [what: string, status: number, header: string[]][] = [
    ['a Trailer header without a body', 200, ['Trailer: x']],
    ['a malformed Cookie', 200, ['Cookie: a="b; =; \u0001'.slice(0, -1)]],
    ['an odd Content-Type', 200, ['Content-Type: ;;;']],
    ['a Content-Type for JSON without JSON', 400, ['Content-Type: application/json', 'Content-Length: 1', '', '{']],
    ['a wish to upgrade', 200, ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk']],
    ['If-None-Match and Range', 200, ['If-None-Match: *', 'Range: bytes=0-1']],
    ['an encoding that the caller would like', 200, ['Accept-Encoding: gzip', 'Accept: text/html;q=0.1']],
    ['the origin of a page', 403, ['Origin: https://example.com', 'Access-Control-Request-Method: POST']],
    ['an odd Expect', 400, ['Expect: the-unexpected']],
    ['two lengths', 400, ['Content-Length: 0', 'Content-Length: 1']],
    ['a length and chunks', 400, ['Content-Length: 3', 'Transfer-Encoding: chunked', '', '0', '']],
    ['an unknown transfer coding', 400, ['Transfer-Encoding: cow']],
    ['a chunk that is none', 400, ['Transfer-Encoding: chunked', '', 'xyz']],
    ['a header that is folded', 400, ['X-Folded: a', ' b']],
    ['a space before the colon', 400, ['X-Space : a']],
    ['more headers than fit', 400, [`X-Large: ${'x'.repeat(20_000)}`]],
    ['no Host', 400, []],
  ]
  it.each(lines)('%s: %i', async (what, status, header) => {
    const request = promotion(...header)
    const answers = await sendRaw(port(), what === 'no Host' ? request.replace('Host: localhost\r\n', '') : request)
    expect(answers.map((answer) => answer.status)).toEqual([status])
    for (const answer of answers) {
      expectSound(answer)
      expect(answer.headers, 'nothing for pages unless it was set up').not.toHaveProperty('access-control-allow-origin')
    }
  })

  it.each([
    ['nothing that is HTTP', 'hello\r\n\r\n', 400],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n', 400],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 404],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n', 404],
    ['an unknown route with an odd type', 'POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Type: ;;\r\n\r\n', 404],
    ['another host in the target', 'GET http://example.com/v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n', 404],
  ])('%s', async (_, bytes, status) => {
    const answers = await sendRaw(port(), bytes)
    expect(answers.map((answer) => answer.status)).toEqual([status])
    for (const answer of answers) expectSound(answer)
  })

  it.each([
    ['a header', 'A b'],
    ['a chunk', 'Transfer-Encoding: chunked\r\n\r\nxyz'],
  ])(
    'answers HEAD with %s that is none without a body, as any HEAD; what comes before it keeps its own',
    async (_, line) => {
      const broken = promotion(line).replace('POST', 'HEAD')
      for (const before of ['', promotion()]) {
        const answers = await sendRaw(port(), before + broken, { quietMs: 60_000 })
        expect(answers.at(-1)?.status).toBe(400)
        const ofHead = before === '' ? answers : answers.slice(1)
        expect(ofHead.map(({ body }) => body).join('')).toBe('')
        if (before !== '') expect(answers[0]).toMatchObject({ status: 200, body: expect.stringContaining('native') })
      }
    },
  )

  it('answers requests that come in one piece in their order, the last of them broken', async () => {
    const requests = `${promotion()}${promotion('Content-Length: 2')}{}${promotion('A b')}`
    // The last answer ends the connection.
    const answers = await sendRaw(port(), requests, { quietMs: 60_000 })
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400])
    for (const answer of answers) expectSound(answer)
  })

  it('takes an absolute target and Expect: 100-continue as RFC 9112 and 9110 say', async () => {
    const absolute = promotion().replace('POST /v1', 'POST http://anything.example/v1')
    const continued = promotion('Expect: 100-continue', 'Content-Length: 2')
    for (const request of [absolute, `${continued}{}`]) {
      expect((await sendRaw(port(), request)).map(({ status }) => status)).toEqual([200])
    }
  })
})

const origin = () => `http://127.0.0.1:${port()}`

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
    const [announced] = await sendRaw(port(), promotion('Content-Length: 10485761'))
    for (const answer of [{ status: sent.status, body: await sent.text() }, announced]) {
      expect(answer).toMatchObject({ status: 413, body: 'HTTP content length exceeded 10485760 bytes.' })
    }
  })
})

describe('a path that is nearly right', () => {
  it('gets the 404 of any other, which lists the operations and repeats nothing', async () => {
    const ask = async (path: string) => {
      const response = await fetch(origin() + path, { method: 'POST', body: 'a=b' })
      const body = (await response.json()) as { error: object; service_metadata: { request_id: string } }
      expect(body.service_metadata.request_id).toBe(response.headers.get('x-request-id'))
      return { status: response.status, error: body.error }
    }
    const paths = ['/files', '/v1/v1/files', '/v1//files', '/V1/files/file_X', '/x%22}#if(1)$y', '/v1', '/']
    const [first, ...others] = await Promise.all(paths.map(ask))
    expect(first).toMatchObject({ status: 404, error: { metadata: { reason: 'route_not_found' } } })
    expect(JSON.stringify(first)).toContain('It has: DELETE /v1/files/{document_id}, GET /v1/containers/')
    for (const other of others) expect(other).toEqual(first)
  })
})
