import { afterEach, describe, expect, it, vi } from 'vitest'
import { createPromoteContainerFileHandler } from '../../lib/http/handlers.ts'
import { formatFileId } from '../../lib/ids.ts'
import { lambdaContext, restEvent } from '../support/api/rest-event.ts'
import { CONTAINER, createTestApi, NOW_MS, PATH } from '../support/api/test-api.ts'

/** How long the request may work, when the gateway received it so long before the handler began. */
async function workMs(waitedMs: number | undefined): Promise<number> {
  const timeout = vi.spyOn(AbortSignal, 'timeout')
  const api = createTestApi()
  const event = restEvent({
    containerId: CONTAINER,
    fileId: formatFileId(PATH),
    headers: { authorization: `Bearer ${api.token}` },
  })
  if (waitedMs !== undefined) event.requestContext.requestTimeEpoch = NOW_MS - waitedMs
  const handler = createPromoteContainerFileHandler(api.dependencies)
  expect((await handler(event as never, lambdaContext(28_000))).statusCode).toBe(200)
  return timeout.mock.calls[0]?.[0] ?? 0
}

describe('POST …/promote: the time a request has', () => {
  afterEach(() => vi.restoreAllMocks())

  it('is over before the gateway answers in its place, however long the process took to start', async () => {
    const gatewayLeftMs = 29_000 - 8000
    const ms = await workMs(8000)
    expect(ms).toBeLessThanOrEqual(gatewayLeftMs - 2500)
    expect(ms).toBeGreaterThan(gatewayLeftMs - 2500 - 1000)
  })
})
