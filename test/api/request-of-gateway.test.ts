import type { APIGatewayProxyEvent } from 'aws-lambda'
import { afterEach, expect, it, vi } from 'vitest'
import { createPromoteContainerFileHandler } from '../../lib/http/promotion-handler.ts'
import { lambdaContext, restEvent } from '../support/api/rest-event.ts'
import { CONTAINER, createTestApi } from '../support/api/test-api.ts'
import { NOW_MS } from '../support/ports.ts'

afterEach(() => vi.restoreAllMocks())

/** Sends a request with this context, without a key. @returns the answer, a 401 */
async function answerTo(requestContext: Partial<APIGatewayProxyEvent['requestContext']> | undefined) {
  const api = createTestApi()
  const event = { ...restEvent({ containerId: CONTAINER, fileId: 'file' }), requestContext }
  const context = { ...lambdaContext(), awsRequestId: 'of-the-function' }
  const answer = await createPromoteContainerFileHandler(api.dependencies)(event as never, context)
  const headers = ['x-request-id', 'request-id'].map((name) => answer.headers?.[name])
  return { headers, body: JSON.parse(answer.body), logged: api.logged }
}

it.each([
  ['the gateway’s', { requestId: 'chosen-by-the-caller', extendedRequestId: 'of-the-gateway' }, 'of-the-gateway'],
  ['the function’s own where there is no gateway', undefined, 'of-the-function'],
  ['the function’s own where the gateway names none', { requestId: 'chosen' }, 'of-the-function'],
])('the id of a request is %s: in both headers, in the body of an error, in the log', async (_, context, id) => {
  const { headers, body, logged } = await answerTo(context)
  expect(headers).toEqual([id, id])
  expect(body.service_metadata).toEqual({ request_id: id })
  expect(logged).toMatchObject([{ request_id: id, status: 401 }])
})

it('the time of a request is over before the gateway answers in its place, however long the process took to start', async () => {
  const timeout = vi.spyOn(AbortSignal, 'timeout')
  await answerTo({ requestTimeEpoch: NOW_MS - 8000 })
  const leftMs = timeout.mock.calls[0]?.[0]
  // The gateway waits for 29 s; 2.5 s are left to undo.
  expect(leftMs).toBeLessThanOrEqual(29_000 - 8000 - 2500)
  expect(leftMs).toBeGreaterThan(29_000 - 8000 - 2500 - 1000)
})
