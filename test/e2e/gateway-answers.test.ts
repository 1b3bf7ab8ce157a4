import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { detailOf, NEAR_MISSES } from '../support/http/near-misses.ts'
import { expectDocumented } from '../support/http/openapi.ts'
import { request } from '../support/local-service/requests.ts'
import { sharedService, type TestService } from '../support/local-service/services.ts'

let service: TestService
beforeAll(async () => {
  service = await sharedService()
})
afterAll(() => service.stop())

describe('what the gateway answers itself', () => {
  it.each([
    ['an unknown route', '/documents', { method: 'GET' }, 404, 'route_not_found'],
    ['another method', '/containers/a/files/b/promote', { method: 'GET' }, 404, 'method_not_allowed'],
    [
      'a body above 10 MB',
      '/containers/a/files/b/promote',
      { body: Buffer.alloc(10 * 1024 * 1024 + 1) },
      413,
      'request_too_large',
    ],
    [
      'a body above 10 MB whose length nobody stated',
      '/containers/a/files/b/promote',
      { body: new Blob([Buffer.alloc(10 * 1024 * 1024 + 1)]).stream(), duplex: 'half' },
      413,
      'request_too_large',
    ],
  ] as [string, string, RequestInit, number, string][])(
    'for %s has the error body',
    async (_, path, init, status, reason) => {
      const response = await request(service.demo.base_url, path, init)
      expectDocumented(response)
      expect(response).toMatchObject({ status, body: { error: { code: status, metadata: { reason } } } })
    },
  )
})

describe('a path that is nearly right', () => {
  it.each(NEAR_MISSES)('$what: the answer names what was probably meant, and the fault', async (miss) => {
    const response = await fetch(new URL(service.demo.base_url).origin + miss.path, { method: 'POST', body: 'a=b' })
    expect(response.status).toBe(404)
    const { error } = (await response.json()) as { error: { metadata: object } }
    expect(error.metadata).toEqual({ reason: 'route_not_found', detail: detailOf(miss) })
  })

  it('with the wrong method: Allow names the right ones, and the reason is another', async () => {
    for (const [path, allow] of [
      ['/containers/a/files/b/promote', 'POST'],
      ['/files/file_x', 'DELETE, GET'],
    ] as const) {
      const response = await fetch(service.demo.base_url + path, { method: 'PATCH' })
      expect([response.status, response.headers.get('allow')]).toEqual([404, allow])
      const { error } = (await response.json()) as { error: { metadata: { reason: string; detail: string } } }
      expect(error.metadata.reason).toBe('method_not_allowed')
      expect(error.metadata.detail).toContain('the Allow header lists the allowed ones')
    }
  })
})
