import { describe, expect, it } from 'vitest'
import { sendRaw } from '../support/http/raw-http.ts'
import { expectSound, useRawGateway } from '../support/local-service/use-raw-gateway.ts'

const { port, promotion } = useRawGateway()

describe('the local gateway, where serverless-offline answered otherwise', () => {
  const lines: [what: string, status: number, header: string[]][] = [
    ['a Trailer header without a body', 200, ['Trailer: x']],
    ['a malformed Cookie', 200, ['Cookie: a="b; =; \u0001'.slice(0, -1)]],
    ['an odd Content-Type', 200, ['Content-Type: ;;;']],
    ['a Content-Type for JSON without JSON', 200, ['Content-Type: application/json', 'Content-Length: 1', '', '{']],
    ['a wish to upgrade', 200, ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk']],
    ['If-None-Match and Range', 200, ['If-None-Match: *', 'Range: bytes=0-1']],
    ['an encoding that the caller would like', 200, ['Accept-Encoding: gzip', 'Accept: text/html;q=0.1']],
    ['the origin of a page', 403, ['Origin: https://example.com', 'Access-Control-Request-Method: POST']],
    ['an odd Expect', 400, ['Expect: the-unexpected']],
    ['an announced body that would be too large', 413, ['Content-Length: 10485761']],
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
