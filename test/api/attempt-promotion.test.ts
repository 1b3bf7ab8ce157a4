import { afterEach, describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { UNLIMITED } from '../support/api/documents-api.ts'
import { refusalOf } from '../support/api/promotion-answers.ts'
import { CONTAINER, createTestApi, PATH } from '../support/api/test-api.ts'
import { NOW_MS } from '../support/ports.ts'
import { replaceWaits } from '../support/virtual-waits.ts'

replaceWaits()
afterEach(() => vi.restoreAllMocks())

const reservationsOf = ({ reservations }: ReturnType<typeof createTestApi>) => [...reservations.items.values()]

describe('an attempt at a promotion', () => {
  it('has a lease that ends one lease length after its start', async () => {
    const api = createTestApi()
    const open = vi.spyOn(api.reservations, 'reserve')
    const take = vi.spyOn(api.ledger, 'take')
    await api.promote({})
    const leaseExpiresAtMs = NOW_MS + api.dependencies.leaseMs
    expect(open.mock.calls.map(([reservation]) => reservation)).toMatchObject([{ leaseExpiresAtMs }])
    expect(take.mock.calls.map(([reservation]) => reservation)).toMatchObject([{ leaseExpiresAtMs }])
  })

  it('says which file it is that was archived after it had been looked up', async () => {
    const api = createTestApi()
    vi.spyOn(api.objects, 'copy').mockRejectedValue(new ServiceError('container_file_archived'))
    const { body } = await api.promote({})
    const metadata = { reason: 'container_file_archived', container_id: CONTAINER, path: PATH }
    expect(body).toMatchObject({ error: { metadata } })
  })

  it('logs why the type of its file was not found out', async () => {
    const api = createTestApi()
    const error = new Error('S3 is on fire')
    api.putFile('data', Buffer.from('x'))
    vi.spyOn(api.objects, 'readStart').mockRejectedValue(error)
    const mime_type = 'application/octet-stream'
    expect(await api.promote({ path: 'data' })).toMatchObject({ status: 200, body: { mime_type } })
    expect(api.logged).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'the type of a file could not be detected', error }),
    )
  })

  it('logs that its reservation was not settled', async () => {
    const api = createTestApi()
    const error = new Error('down')
    vi.spyOn(api.reservations, 'remove').mockRejectedValue(error)
    expect((await api.promote({})).status).toBe(200)
    const message = 'reservation not settled, left to the resolver'
    expect(api.logged).toContainEqual(expect.objectContaining({ level: 'warn', message, error }))
  })

  it.each([
    ['fenced', 'request_timed_out'],
    ['exists', 'promotion_in_progress'],
  ] as const)('finds its record %s: undoes its own work, and only that', async (outcome, reason) => {
    const api = createTestApi()
    await api.promote({})
    vi.spyOn(api.documents, 'record').mockResolvedValue(outcome)
    expect(refusalOf(await api.promote({}))).toEqual([503, reason])
    expect([api.documents.documents.size, api.objects.documents.size]).toEqual([1, 1])
    expect(api.ledger.workspaces.get('ws_1' as WorkspaceId)).toMatchObject({ remainingBytes: 992 })
    expect(reservationsOf(api)).toEqual([])
  })

  it('takes its bytes, copies beside its reservation, and records after both', async () => {
    const api = createTestApi()
    const order: string[] = []
    const watched = {
      claim: 'reservations',
      take: 'ledger',
      reserve: 'reservations',
      copy: 'objects',
      record: 'documents',
    }
    for (const [method, port] of Object.entries(watched)) {
      const target = api[port as 'ledger'] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
      const original = target[method]?.bind(target)
      vi.spyOn(target, method).mockImplementation(async (...args) => {
        order.push(`${method} begins`)
        await new Promise((resolve) => setImmediate(resolve))
        const result = await original?.(...args)
        order.push(`${method} ends`)
        return result
      })
    }
    expect((await api.promote({})).status).toBe(200)
    expect(order.slice(0, 2)).toEqual(['take begins', 'take ends'])
    expect(order.slice(2, 4).toSorted()).toEqual(['copy begins', 'reserve begins'])
    expect(order.slice(4, 6).toSorted()).toEqual(['copy ends', 'reserve ends'])
    expect(order.slice(6)).toEqual(['record begins', 'record ends'])
    order.splice(0)
    expect((await api.promote({ headers: { 'Idempotency-Key': 'k' } })).status).toBe(200)
    // Twins have met at the claim, before any bytes were taken.
    expect(order.slice(0, 2)).toEqual(['claim begins', 'claim ends'])
    expect(order.slice(2, 4).toSorted()).toEqual(['take begins', 'take ends'])
    expect(order.slice(4, 6).toSorted()).toEqual(['copy begins', 'reserve begins'])
  })

  it('writes nothing before the rate limit has let it in', async () => {
    let letIn = (_reason: Error) => {}
    const take = () =>
      new Promise<never>((_, reject) => {
        letIn = reject
      })
    const api = createTestApi({ rateLimiter: { ...UNLIMITED, policy: { requestsPerMinute: 1, burst: 1 }, take } })
    const reserve = vi.spyOn(api.ledger, 'take')
    const promoting = api.promote({})
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
    expect(reserve).not.toHaveBeenCalled()
    letIn(new Error('late'))
    expect((await promoting).status).toBe(200)
  })
})
