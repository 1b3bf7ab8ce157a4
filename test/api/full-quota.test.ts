import { afterEach, describe, expect, it, vi } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import { refusalOf } from '../support/api/promotion-answers.ts'
import { CONTAINER, CSV, createTestApi } from '../support/api/test-api.ts'
import { NOW_MS } from '../support/ports.ts'
import { createLimiter } from '../support/stores/keys-and-limits.ts'

afterEach(() => vi.restoreAllMocks())

const WORKSPACE = 'ws_1' as WorkspaceId
const FILES = 500

/** All calls of the stores that a promotion makes. */
function watch({ documents, ledger, objects }: ReturnType<typeof createTestApi>) {
  const copy = vi.spyOn(objects, 'copy')
  const begin = vi.spyOn(documents, 'begin')
  const others = [
    ...(['find', 'findAll', 'fence', 'putStray', 'nextExpiry'] as const).map((name) => vi.spyOn(documents, name)),
    ...(['read', 'take', 'giveBack'] as const).map((name) => vi.spyOn(ledger, name)),
    vi.spyOn(objects, 'findContainerFile'),
  ]
  return { copy, begin, calls: () => others.reduce((sum, { mock }) => sum + mock.calls.length, 0) }
}

describe('a full quota', () => {
  it('refuses one file before anything is begun or copied', async () => {
    const api = createTestApi()
    await api.promote({})
    await api.stored.setUsage(WORKSPACE, { quotaBytes: 1000, usedBytes: 1000 - CSV.length + 1 })
    const { copy, begin } = watch(api)
    expect(refusalOf(await api.promote({}))).toEqual([403, 'storage_quota_exceeded'])
    expect([copy.mock.calls, begin.mock.calls]).toEqual([[], []])
  })

  it('refuses a run of five hundred files without a copy, with a handful of calls', async () => {
    const rateLimiter = createLimiter({ requestsPerMinute: 60_000, burst: 2 * FILES }, () => NOW_MS)
    const api = createTestApi({ rateLimiter })
    const small = Array.from({ length: FILES }, (_, number) => `many/${number}`)
    for (const path of small) api.putFile(path, CSV)
    await api.workspaces.create(WORKSPACE, 1000, AbortSignal.timeout(1000))
    await api.stored.setUsage(WORKSPACE, { quotaBytes: 1000, usedBytes: 1000 })
    const { copy, begin, calls } = watch(api)
    const parameters = { container_id: CONTAINER }
    const { body } = await api.call('promote_container_files', { parameters, body: { prefix: 'many/' } })
    const { data } = body as { data: { error: { code: number } }[] }
    expect(data.map(({ error }) => error.code)).toEqual(Array.from({ length: FILES }, () => 403))
    expect([copy.mock.calls, begin.mock.calls]).toEqual([[], []])
    // One look for earlier documents for each hundred; the ledger, and the next expiry.
    expect(calls()).toBe(FILES / 100 + 2)
  })

  it('may be found out after the copy only, when others take the room meanwhile: nothing stays of that', async () => {
    const api = createTestApi()
    api.putFile('half', Buffer.alloc(500))
    await api.promote({ path: 'half' })
    const { copy } = api.objects
    vi.spyOn(api.objects, 'copy').mockImplementationOnce(async (...args) => {
      const copied = await copy(...args)
      expect((await api.promote({})).status).toBe(200)
      return copied
    })
    expect(refusalOf(await api.promote({ path: 'half' }))).toEqual([403, 'storage_quota_exceeded'])
    expect(api.stored.items().map(({ state }) => state)).toEqual(['ready', 'ready'])
    expect(api.objects.documents.size).toBe(2)
    expect(api.stored.ledgerOf(WORKSPACE)).toMatchObject({ usedBytes: 500 + CSV.length, takings: [] })
  })
})
