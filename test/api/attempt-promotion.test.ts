import { afterEach, describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import { CONTAINER, createTestApi, NOW_MS, PATH } from '../support/api/test-api.ts'
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

  it('leaves no note when S3 refused the copy', async () => {
    const api = createTestApi()
    vi.spyOn(api.objects, 'copy').mockRejectedValue(new ServiceError('service_unavailable'))
    expect((await api.promote({})).status).toBe(503)
    expect(reservationsOf(api)).toEqual([])
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
})
