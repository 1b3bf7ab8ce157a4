import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sendRaw } from '../support/api/raw-http.ts'
import { CRLF, expectSound, useRawGateway } from '../support/machine/use-raw-gateway.ts'

const RUNS = Number(process.env.FUZZ_RUNS ?? 400)
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121)

const { port, key, promotePath, promotion } = useRawGateway()

describe('any request', () => {
  const METHODS = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND PURGE M-SEARCH QUERY get BREW P\u00d6ST'.split(
    ' ',
  )
  const text = fc.string({ unit: 'binary', maxLength: 40 }).map((each) => each.replace(/[\r\n]/g, ''))
  const latin = fc
    .array(fc.integer({ min: 0, max: 255 }), { maxLength: 30 })
    .map((codes) => String.fromCharCode(...codes))
  const TARGETS = 'PROMOTE/ /v1PROMOTE PROMOTE?a=1&a=%zz PROMOTE#x // / * /% /..%2f http://h'.split(' ')
  const target = fc.oneof(
    { weight: 4, arbitrary: fc.constant('PROMOTE') },
    fc.constantFrom('', ...TARGETS),
    latin.map((each) => `/v1/${each}`),
    latin,
  )
  const HEADERS = [
    'Host: y | Connection: close | Connection: authorization | Content-Length: 0 | Content-Length: 4',
    'Content-Length: -1 | Content-Length: 4, 4 | Transfer-Encoding: chunked',
    'Transfer-Encoding: chunked, chunked | Transfer-Encoding: gzip, chunked | transfer-encoding:\tchunked',
    'Transfer-Encoding : chunked | Trailer: x | TE: trailers | Expect: 100-continue | Expect: 200-maybe',
    'Upgrade: websocket | Cookie: =;;" | Content-Type: \u0000 | Content-Type: multipart/form-data',
    'Content-Encoding: gzip | Accept: */*;q=x | Range: bytes=9-1 | Origin: null | X-HTTP-Method-Override: GET',
    'X-Forwarded-For: 1.1.1.1 | Authorization: Basic eDp5 | : empty | no colon |  folded',
  ].flatMap((line) => line.split(' | '))
  const header = fc.oneof(
    fc.constantFrom(...HEADERS),
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
    /** Whether the same request comes once more after it, on the same connection: what a smuggled request would be. */
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
          'Host: localhost',
          ...(isAuthorized ? [`Authorization: Bearer ${key()}`] : []),
          ...headers,
          '',
          each.body,
        ]
        const bytes = lines.join(lineEnd)
        const answers = await sendRaw(port(), isRepeated ? bytes + bytes : bytes, { quietMs: 60, retryForMs: 5000 })
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
    expect((await sendRaw(port(), promotion())).map(({ status }) => status)).toContain(200)
  })
})
