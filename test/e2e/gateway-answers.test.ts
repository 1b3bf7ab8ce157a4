import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
  it('gets the 404 of any other, which lists the operations and repeats nothing', async () => {
    const ask = async (path: string) => {
      const response = await fetch(new URL(service.demo.base_url).origin + path, { method: 'POST', body: 'a=b' })
      const body = (await response.json()) as { error: object; service_metadata: { request_id: string } }
      expect(body.service_metadata.request_id).toBe(response.headers.get('x-request-id'))
      return { status: response.status, error: body.error }
    }
    const paths = ['/files', '/v1/v1/files', '/v1//files', '/V1/files/file_X', '/v1/files/', '/x%22}#if(1)$y', '/v1']
    const [first, ...others] = await Promise.all(paths.map(ask))
    expect(first).toMatchObject({ status: 404, error: { metadata: { reason: 'route_not_found' } } })
    expect(JSON.stringify(first)).toContain('It has: DELETE /v1/files/{document_id}, GET /v1/containers/')
    for (const other of others) expect(other).toEqual(first)
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
