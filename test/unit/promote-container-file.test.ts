import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import type { WorkspaceId } from '../../lib/promotion/ids.ts'
import { createTestApi } from '../support/test-api.ts'

const LOST = new ServiceError('service_unavailable', { cause: new Error('lost') })

type Api = ReturnType<typeof createTestApi>
type Port = 'objects' | 'ledger' | 'documents'

/** Makes one method of a port fail: before it does anything, or after it did everything. */
function fail(api: Api, port: Port, method: string, when: 'before' | 'after'): void {
  const target = api[port] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
  const original = target[method]?.bind(target)
  if (!original) throw new Error(`${port} has no ${method}`)
  vi.spyOn(target, method).mockImplementation(async (...args) => {
    if (when === 'after') await original(...args)
    throw LOST
  })
}

const state = (api: Api) => {
  const workspace = api.ledger.workspaces.get('ws_1' as WorkspaceId)
  return {
    documents: api.documents.documents.size,
    objects: api.objects.documents.size,
    used: (workspace?.quotaBytes ?? 0) - (workspace?.remainingBytes ?? 0),
    reservations: workspace?.reservations.size ?? 0,
  }
}
const NOTHING = { documents: 0, objects: 0, used: 0, reservations: 0 }
const ONE_DOCUMENT = { documents: 1, objects: 1, used: 8, reservations: 0 }

describe('a promotion whose step fails', () => {
  it.each<[Port, string, 'before' | 'after']>([
    ['objects', 'findContainerFile', 'before'],
    ['ledger', 'reserve', 'before'],
    ['ledger', 'reserve', 'after'],
    ['objects', 'copy', 'before'],
    ['objects', 'copy', 'after'],
    ['documents', 'record', 'before'],
  ])('%s.%s, %s it was applied: 503 and nothing is left', async (port, method, when) => {
    const api = createTestApi()
    fail(api, port, method, when)
    expect((await api.promote({})).status).toBe(503)
    expect(state(api)).toEqual(NOTHING)
  })

  it('documents.record after it was applied: 200, the document is there', async () => {
    const api = createTestApi()
    fail(api, 'documents', 'record', 'after')
    expect((await api.promote({})).status).toBe(200)
    expect(state(api)).toEqual(ONE_DOCUMENT)
  })

  it.each<['before' | 'after', object]>([
    ['before', { ...ONE_DOCUMENT, reservations: 1 }],
    ['after', ONE_DOCUMENT],
  ])("ledger.settle, %s it was applied: 200, and a reservation left is the resolver's", async (when, expected) => {
    const api = createTestApi()
    fail(api, 'ledger', 'settle', when)
    expect((await api.promote({})).status).toBe(200)
    expect(state(api)).toEqual(expected)
    expect(api.logged).toContainEqual(expect.objectContaining({ level: 'warn', error: LOST }))
  })

  it('keeps the first error when the undo fails, too, and leaves the reservation to the resolver', async () => {
    const api = createTestApi()
    fail(api, 'objects', 'copy', 'after')
    vi.spyOn(api.objects, 'discard').mockRejectedValue(new Error('the undo failed'))
    const release = vi.spyOn(api.ledger, 'release')
    const response = await api.promote({})
    expect(response).toMatchObject({ status: 503, body: { error: { metadata: { reason: 'service_unavailable' } } } })
    // The object may still be there: as long as it is, it stays counted.
    expect(release).not.toHaveBeenCalled()
    expect(state(api)).toEqual({ documents: 0, objects: 1, used: 8, reservations: 1 })
    expect(api.logged).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringContaining('undo') }),
    )
  })

  it.each([
    ['fenced', 'promotion_timed_out'],
    ['taken', 'promotion_in_progress'],
  ] as const)('finds its record %s: undoes its own work, and only that', async (outcome, reason) => {
    const api = createTestApi()
    await api.promote({})
    vi.spyOn(api.documents, 'record').mockResolvedValue(outcome)
    expect(await api.promote({})).toMatchObject({ status: 503, body: { error: { metadata: { reason } } } })
    expect(state(api)).toEqual(ONE_DOCUMENT)
  })

  it('writes nothing before the rate limit has let it in', async () => {
    const take = () => new Promise<never>((_, reject) => setTimeout(() => reject(new Error('late')), 50))
    const api = createTestApi({ rateLimiter: { policy: { requestsPerMinute: 1, burst: 1 }, take } })
    const reserve = vi.spyOn(api.ledger, 'reserve')
    const promoting = api.promote({})
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(reserve).not.toHaveBeenCalled()
    expect((await promoting).status).toBe(200)
  })
})
