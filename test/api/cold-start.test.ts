import { afterEach, expect, it, vi } from 'vitest'
import { createPromoteContainerFileHandler } from '../../lib/http/promotion-handler.ts'
import { formatFileId } from '../../lib/ids.ts'
import { lambdaContext, restEvent } from '../support/api/rest-event.ts'
import { CONTAINER, createTestApi, PATH } from '../support/api/test-api.ts'
import { NOW_MS } from '../support/ports.ts'

afterEach(() => vi.restoreAllMocks())

it('the time of a request is over before the gateway answers in its place, however long the process took to start', async () => {
  const timeout = vi.spyOn(AbortSignal, 'timeout')
  const api = createTestApi()
  const headers = { authorization: `Bearer ${api.token}` }
  const event = restEvent({ containerId: CONTAINER, fileId: formatFileId(PATH), headers })
  event.requestContext.requestTimeEpoch = NOW_MS - 8000
  const handler = createPromoteContainerFileHandler(api.dependencies)
  expect((await handler(event as never, lambdaContext(28_000))).statusCode).toBe(200)
  const leftMs = timeout.mock.calls[0]?.[0]
  // The gateway waits for 29 s; 2.5 s are left to undo.
  expect(leftMs).toBeLessThanOrEqual(29_000 - 8000 - 2500)
  expect(leftMs).toBeGreaterThan(29_000 - 8000 - 2500 - 1000)
})
