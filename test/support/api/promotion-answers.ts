import { expect } from 'vitest'
import { type Reason, ServiceError } from '../../../lib/errors.ts'
import { VARY } from '../../../lib/http/headers.ts'
import type { AnyResponse } from './openapi.ts'
import type { TestApi } from './test-api.ts'

const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/)

export const COMMON_HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
  'x-request-id': UUID,
  'request-id': UUID,
  vary: VARY,
}
export const UNLIMITED_HEADERS = { 'ratelimit-policy': '"default";q=10000;w=10', ratelimit: '"default";r=4;t=1' }
export const RATE_HEADERS = { 'ratelimit-policy': '"default";q=5;w=5', ratelimit: '"default";r=4;t=1' }

export const idOf = ({ body }: { body: unknown }) => (body as { id: string }).id
export const reasonOf = ({ body }: AnyResponse) =>
  (body as { error: { metadata: { reason: string } } }).error.metadata.reason
export const refusalOf = (response: AnyResponse) => [response.status, reasonOf(response)]

/** @param facts what metadata has besides the reason; a detail, if it is another than the table has */
export function expectRefusal(
  response: AnyResponse,
  reason: Reason,
  facts: object = {},
  { headers = RATE_HEADERS, userId = 'user_1' }: { headers?: object; userId?: string | null } = {},
) {
  const { status, message, detail } = new ServiceError(reason)
  expect(response).toEqual({
    status,
    headers: { ...COMMON_HEADERS, ...headers },
    body: {
      error: { code: status, message, metadata: { reason, detail, ...facts } },
      service_metadata: { request_id: response.headers['x-request-id'] },
      user_id: userId,
    },
  })
}

/** Expects that nothing new is kept and nothing stays counted. */
export function expectUntouched({ stored, objects }: TestApi) {
  expect(stored.items().filter(({ state }) => state !== 'gone')).toEqual([])
  expect(objects.documents.size).toBe(0)
  for (const { usedBytes, holds, refunds } of stored.ledgers()) {
    expect([usedBytes, holds, refunds]).toEqual([0, [], []])
  }
}
