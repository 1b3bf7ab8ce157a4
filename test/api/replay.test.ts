import { afterEach, describe, expect, it, vi } from 'vitest'
import { expectOneDocument, idOf, withKey } from '../support/api/idempotent-promotions.ts'
import { CSV, createTestApi, PATH } from '../support/api/test-api.ts'
import { skipWaits } from '../support/virtual-waits.ts'

const time = skipWaits()
afterEach(() => vi.restoreAllMocks())

const reasonOf = ({ body }: { body: unknown }) => (body as { error: { metadata: object } }).error.metadata

describe('a promotion that is repeated with its Idempotency-Key', () => {
  it('reads the document, and takes no bytes', async () => {
    const api = createTestApi()
    const first = await api.promote(withKey())
    const take = vi.spyOn(api.ledger, 'take')
    const find = vi.spyOn(api.reservations, 'find')
    expect(idOf(await api.promote(withKey()))).toBe(idOf(first))
    expect([take.mock.calls, find.mock.calls]).toEqual([[], []])
    expectOneDocument(api)
  })

  it('is 400 for a file of the same path in another container', async () => {
    const api = createTestApi()
    api.putFile(PATH, CSV, 'text/csv', 'ws_1', 'sess_2')
    await api.promote(withKey())
    expect((await api.promote({ ...withKey(), containerId: 'sess_2' })).status).toBe(400)
  })

  it('is answered without the usage when that cannot be read, and the log says why', async () => {
    const api = createTestApi()
    await api.promote(withKey())
    const error = new Error('down')
    vi.spyOn(api.ledger, 'usage').mockRejectedValue(error)
    const replayed = await api.promote(withKey())
    expect(replayed.status).toBe(200)
    expect(replayed.headers).not.toHaveProperty('storage-used-bytes')
    const message = 'storage usage not read, replay answered without it'
    expect(api.logged).toContainEqual(expect.objectContaining({ level: 'warn', message, error }))
  })
})

describe('a promotion that is refused', () => {
  it('does not wait when there is no such file', async () => {
    const api = createTestApi()
    expect((await api.promote({ ...withKey(), path: 'missing.txt' })).status).toBe(404)
    expect(time.pausesMs).toEqual([])
  })

  it('is in progress when its twin is', async () => {
    const api = createTestApi()
    vi.spyOn(api.reservations, 'find').mockResolvedValue({} as never)
    expect(reasonOf(await api.promote({ ...withKey(), path: 'missing.txt' }))).toMatchObject({
      reason: 'promotion_in_progress',
    })
  })
})
