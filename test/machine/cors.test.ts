import { beforeAll, describe, expect, it } from 'vitest'
import { EXPOSED_HEADERS } from '../../lib/http/cors.ts'
import { HAS_BROWSER } from '../support/machine/browser.ts'
import { useService } from '../support/machine/services.ts'
import { somePage, useBrowser } from '../support/machine/use-page.ts'
import { useServers } from '../support/stores/aws-endpoints.ts'

const serve = useServers()
let [allowed, foreign] = ['', '']
beforeAll(async () => {
  allowed = await serve(somePage)
  // Two names of one machine are two origins.
  foreign = allowed.replace('127.0.0.1', 'localhost')
})
const service = useService(() => ({ changes: { CORS_ALLOWED_ORIGINS: `https://app.example.com,${allowed}` } }))

const promotion = () =>
  `${service().demo.base_url}/containers/${service().demo.container_id}/files/${service().demo.files[0]?.file_id}/promote`
const corsHeadersOf = (response: Response) =>
  Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('access-control')))

describe('CORS at the local gateway', () => {
  it('answers a preflight itself, and refuses that of any other origin', async () => {
    const ask = (origin: string) => fetch(promotion(), { method: 'OPTIONS', headers: { origin } })
    const [known, unknown] = [await ask(allowed), await ask(foreign)]
    expect([known.status, unknown.status]).toEqual([204, 403])
    expect(corsHeadersOf(known)).toMatchObject({
      'access-control-allow-origin': allowed,
      'access-control-allow-methods': 'POST',
    })
    expect(corsHeadersOf(known)).not.toHaveProperty('access-control-allow-credentials')
    expect(known.headers.get('vary')).toBe('Origin')
    const elsewhere = await fetch(new URL('/nothing', promotion()), { method: 'OPTIONS', headers: { origin: allowed } })
    expect(elsewhere.status).toBe(404)
  })

  it("lets the origin read a function's answers, and everybody the gateway's own", async () => {
    const ask = (method: string, origin: string) => fetch(promotion(), { method, headers: { origin } })
    const answer = await ask('POST', allowed)
    expect(corsHeadersOf(answer)).toEqual({
      'access-control-allow-origin': allowed,
      'access-control-expose-headers': EXPOSED_HEADERS,
    })
    expect(answer.headers.get('vary')).toContain(', Origin')
    const wrongMethod = await ask('PUT', allowed)
    expect(wrongMethod.headers.get('allow')).toBe('OPTIONS, POST')
    const refused = await ask('POST', foreign)
    expect(await refused.json()).toMatchObject({ error: { code: 403, metadata: { reason: 'request_blocked' } } })
    for (const own of [wrongMethod, refused]) {
      expect(corsHeadersOf(own)['access-control-allow-origin']).toBe('*')
    }
  })
})

describe.skipIf(!HAS_BROWSER)('CORS in a browser', () => {
  const browser = useBrowser()

  const promoteFrom = async (origin: string) => {
    const page = await browser().newPage()
    await page.goto(origin)
    const headers = { authorization: `Bearer ${service().demo.standard_key}`, 'idempotency-key': 'from-a-page' }
    const answered = page.evaluate(
      async ([url, headers]) => {
        const answer = await fetch(url, { method: 'POST', headers })
        const { id } = (await answer.json()) as { id: string }
        return { status: answer.status, used: answer.headers.get('storage-used-bytes'), id }
      },
      [promotion(), headers] as const,
    )
    return answered.finally(() => page.close())
  }

  it('lets a page of a named origin promote and read how full the workspace is', async () => {
    expect(await promoteFrom(allowed)).toEqual({ status: 200, used: '8763', id: expect.stringMatching(/^file_/) })
  })

  it('lets no other page in', async () => {
    await expect(promoteFrom(foreign)).rejects.toThrow('TypeError: Failed to fetch')
  })
})
