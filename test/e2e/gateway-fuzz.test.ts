import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatFileId } from '../../lib/ids.ts'
import { sharedService, type TestService } from '../support/local-service/services.ts'
import { expectDocumented } from '../support/openapi.ts'
import { type RawAnswer, sendRaw } from '../support/raw-http.ts'

const RUNS = Number(process.env.FUZZ_RUNS ?? 400)
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121)
const CRLF = '\r\n'

let service: TestService
let port: number
let promotePath: string
let key: string

beforeAll(async () => {
  service = await sharedService()
  port = Number(new URL(service.demo.base_url).port)
  promotePath = `/v1/containers/sess_fuzz/files/${formatFileId('a.txt')}/promote`
  const workspaceId = service.newWorkspaceId()
  key = await service.newKey(workspaceId)
  await service.putFile(workspaceId, 'sess_fuzz', 'a.txt', Buffer.from('a'))
})
afterAll(() => service.stop())

/** Status and code agree, and every error has the body; 429 when the fuzz is faster than the key may be. */
function expectSound({ status, headers, body }: RawAnswer, isHead = false): void {
  expect([200, 400, 401, 404, 413, 429]).toContain(status)
  expect(headers['content-type']).toBe('application/json')
  if (isHead) return
  expectDocumented({ status, headers, body: JSON.parse(body) })
  if (status !== 200) expect(JSON.parse(body).error.code).toBe(status)
}

const promotion = (...lines: string[]) =>
  [`POST ${promotePath} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${key}`, ...lines, '', ''].join(CRLF)

describe('the local gateway, where serverless-offline answered otherwise', () => {
  const lines: [what: string, status: number, header: string[]][] = [
    ['a Trailer header without a body', 200, ['Trailer: x']],
    ['a malformed Cookie', 200, ['Cookie: a="b; =; \u0001'.slice(0, -1)]],
    ['an odd Content-Type', 200, ['Content-Type: ;;;']],
    ['a Content-Type for JSON without JSON', 200, ['Content-Type: application/json', 'Content-Length: 1', '', '{']],
    ['a wish to upgrade', 200, ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk']],
    ['If-None-Match and Range', 200, ['If-None-Match: *', 'Range: bytes=0-1']],
    ['an encoding that the caller would like', 200, ['Accept-Encoding: gzip', 'Accept: text/html;q=0.1']],
    ['the origin of a page', 200, ['Origin: https://example.com', 'Access-Control-Request-Method: POST']],
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
    const answers = await sendRaw(port, what === 'no Host' ? request.replace('Host: x\r\n', '') : request)
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
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 404],
    ['an unknown route with an odd type', 'POST /v1/x HTTP/1.1\r\nHost: x\r\nContent-Type: ;;\r\n\r\n', 404],
    ['another host in the target', 'GET http://example.com/v1/x HTTP/1.1\r\nHost: x\r\n\r\n', 404],
  ])('%s', async (_, bytes, status) => {
    const answers = await sendRaw(port, bytes)
    expect(answers.map((answer) => answer.status)).toEqual([status])
    for (const answer of answers) expectSound(answer)
  })

  it('answers requests that come in one piece in their order, the last of them broken', async () => {
    const requests = `${promotion()}${promotion('Content-Length: 2')}{}${promotion('A b')}`
    // The last answer ends the connection.
    const answers = await sendRaw(port, requests, { quietMs: 60_000 })
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400])
    for (const answer of answers) expectSound(answer)
  })

  it('takes an absolute target and Expect: 100-continue as RFC 9112 and 9110 say', async () => {
    const absolute = promotion().replace('POST /v1', 'POST http://anything.example/v1')
    const continued = promotion('Expect: 100-continue', 'Content-Length: 2')
    for (const request of [absolute, `${continued}{}`]) {
      expect((await sendRaw(port, request)).map(({ status }) => status)).toEqual([200])
    }
  })
})

describe('any request', () => {
  const METHODS = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND PURGE M-SEARCH QUERY get BREW P\u00d6ST'.split(
    ' ',
  )
  const text = fc.string({ unit: 'binary', maxLength: 40 }).map((each) => each.replace(/[\r\n]/g, ''))
  const latin = fc
    .array(fc.integer({ min: 0, max: 255 }), { maxLength: 30 })
    .map((codes) => String.fromCharCode(...codes))
  const target = fc.oneof(
    { weight: 4, arbitrary: fc.constant('PROMOTE') },
    fc.constantFrom(
      'PROMOTE/',
      '/v1PROMOTE',
      'PROMOTE?a=1&a=%zz',
      'PROMOTE#x',
      '//',
      '/',
      '*',
      '',
      '/%',
      '/..%2f',
      'http://h',
    ),
    latin.map((each) => `/v1/${each}`),
    latin,
  )
  const header = fc.oneof(
    fc.constantFrom(
      'Host: y',
      'Connection: close',
      'Connection: authorization',
      'Content-Length: 0',
      'Content-Length: 4',
      'Content-Length: -1',
      'Content-Length: 4, 4',
      'Transfer-Encoding: chunked',
      'Transfer-Encoding: chunked, chunked',
      'Transfer-Encoding: gzip, chunked',
      'transfer-encoding:\tchunked',
      'Transfer-Encoding : chunked',
      'Trailer: x',
      'TE: trailers',
      'Expect: 100-continue',
      'Expect: 200-maybe',
      'Upgrade: websocket',
      'Cookie: =;;"',
      'Content-Type: \u0000',
      'Content-Type: multipart/form-data',
      'Content-Encoding: gzip',
      'Accept: */*;q=x',
      'Range: bytes=9-1',
      'Origin: null',
      'X-HTTP-Method-Override: GET',
      'X-Forwarded-For: 1.1.1.1',
      'Authorization: Basic eDp5',
      ': empty',
      'no colon',
      ' folded',
    ),
    fc.tuple(latin, text).map(([name, value]) => `${name}: ${value}`),
    fc
      .tuple(fc.constantFrom('File-Shape', 'Idempotency-Key', 'User-Agent', 'Cookie'), latin)
      .map(([n, v]) => `${n}: ${v}`),
  )
  const body = fc.oneof(
    fc.constantFrom('', '0\r\n\r\n', '4\r\nabcd\r\n0\r\n\r\n', 'abcd', 'ffffffff\r\n', '0\r\nX: y\r\n\r\n'),
    latin,
  )
  const request = fc.record({
    method: fc.oneof({ weight: 3, arbitrary: fc.constant('POST') }, fc.constantFrom(...METHODS)),
    target,
    version: fc.oneof(
      { weight: 6, arbitrary: fc.constant('HTTP/1.1') },
      fc.constantFrom('HTTP/1.0', 'HTTP/0.9', 'HTTP/3', 'x', ''),
    ),
    headers: fc.array(header, { maxLength: 5 }),
    isAuthorized: fc.boolean(),
    lineEnd: fc.oneof({ weight: 9, arbitrary: fc.constant(CRLF) }, fc.constantFrom('\n', '\r')),
    body,
    /** The same once more behind it, on the same connection: what a smuggled request would be. */
    isRepeated: fc.boolean(),
  })

  it(`is answered with the error body, whatever it is (${RUNS} of them, seed ${SEED})`, {
    timeout: 300_000,
  }, async () => {
    const seen = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(request, async (each) => {
        const { method, version, headers, isAuthorized, lineEnd, isRepeated } = each
        const lines = [
          `${method} ${each.target.replace('PROMOTE', promotePath)} ${version}`,
          'Host: x',
          ...(isAuthorized ? [`Authorization: Bearer ${key}`] : []),
          ...headers,
          '',
          each.body,
        ]
        const bytes = lines.join(lineEnd)
        const answers = await sendRaw(port, isRepeated ? bytes + bytes : bytes, { quietMs: 60, patienceMs: 5000 })
        for (const answer of answers) {
          expectSound(answer, method === 'HEAD' && answer.body === '')
          seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
        }
      }),
      { numRuns: RUNS, seed: SEED, endOnFailure: true },
    )
    // It reached the function and was refused in every way.
    for (const status of [200, 400, 401, 404]) expect(seen.get(status), `${status}`).toBeGreaterThan(0)
    // And the service is well.
    expect((await sendRaw(port, promotion())).map(({ status }) => status)).toContain(200)
  })
})
