import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import { expectRefusal } from '../support/http/promotion-answers.ts'
import { createTestApi } from '../support/http/test-api.ts'

describe('POST …/promote: 404', () => {
  it.each([
    [
      'container_file_encrypted',
      'The file was encrypted with a key that only its writer has (SSE-C), so it cannot be promoted.',
    ],
    [
      'container_file_requester_pays',
      'The file is in a bucket that charges its readers (Requester Pays), so it cannot be promoted.',
    ],
  ] as const)('%s for a file that S3 lets nobody read, with nothing copied', async (reason, detail) => {
    const api = createTestApi()
    vi.spyOn(api.objects, 'findContainerFile').mockRejectedValue(new ServiceError(reason))
    const copy = vi.spyOn(api.objects, 'copy')
    for (const headers of [{}, { 'idempotency-key': 'k' }]) {
      const response = await api.promote({ headers })
      if (!('idempotency-key' in headers)) expectRefusal(response, 404, 'Resource not found', { reason, detail })
      expect(response).toMatchObject({ status: 404, body: { error: { metadata: { reason } } } })
    }
    expect(copy).not.toHaveBeenCalled()
  })
})
