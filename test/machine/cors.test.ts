import { describe, expect, it } from 'vitest'
import { EXPOSED_HEADERS } from '../../lib/http/headers.ts'
import { useService } from '../support/machine/services.ts'

const ALLOWED = 'http://localhost:5173'
/** The same machine at another port is another origin. */
const FOREIGN = 'http://localhost:5174'
const service = useService(() => ({ changes: { CORS_ALLOWED_ORIGINS: `https://app.example.com,${ALLOWED}` } }))

const promotion = () =>
  `${service().demo.base_url}/containers/${service().demo.container_id}/files/${service().demo.files[0]?.file_id}/promote`
const corsHeadersOf = (response: Response) =>
  Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('access-control')))

describe('CORS at the local gateway', () => {
  it('answers a preflight itself, and refuses that of any other origin', async () => {
    const ask = (origin: string) => fetch(promotion(), { method: 'OPTIONS', headers: { origin } })
    const [known, unknown] = [await ask(ALLOWED), await ask(FOREIGN)]
    expect([known.status, unknown.status]).toEqual([204, 403])
    expect(corsHeadersOf(known)).toMatchObject({
      'access-control-allow-origin': ALLOWED,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': expect.stringMatching(/^Authorization, .*\bIdempotency-Key\b/),
    })
    expect(corsHeadersOf(known)).not.toHaveProperty('access-control-allow-credentials')
    expect(known.headers.get('vary')).toBe('Origin')
    const elsewhere = await fetch(new URL('/nothing', promotion()), { method: 'OPTIONS', headers: { origin: ALLOWED } })
    expect(elsewhere.status).toBe(404)
  })

  it("lets the origin read a function's answers, and everybody the gateway's own", async () => {
    const ask = (method: string, origin: string) => fetch(promotion(), { method, headers: { origin } })
    const answer = await ask('POST', ALLOWED)
    expect(corsHeadersOf(answer)).toEqual({
      'access-control-allow-origin': ALLOWED,
      'access-control-expose-headers': EXPOSED_HEADERS,
    })
    expect(answer.headers.get('vary')).toContain(', Origin')
    const wrongMethod = await ask('PUT', ALLOWED)
    expect(wrongMethod.headers.get('allow')).toBe('OPTIONS, POST')
    const refused = await ask('POST', FOREIGN)
    expect(await refused.json()).toMatchObject({ error: { code: 403, metadata: { reason: 'request_blocked' } } })
    for (const own of [wrongMethod, refused]) {
      expect(corsHeadersOf(own)['access-control-allow-origin']).toBe('*')
    }
  })
})
