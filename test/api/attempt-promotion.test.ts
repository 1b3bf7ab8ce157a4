import { afterEach, describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import { refusalOf } from '../support/api/promotion-answers.ts'
import { CONTAINER, createTestApi, PATH, UNLIMITED, useTestApi } from '../support/api/test-api.ts'
import { beforeNext } from '../support/beside.ts'
import { LEASE_MS, NOW_MS, WORKSPACE } from '../support/ports.ts'
import { skipWaits } from '../support/virtual-waits.ts'

const api = useTestApi()
skipWaits()
afterEach(() => vi.restoreAllMocks())

describe('an attempt at a promotion', () => {
  it('has a lease that ends one lease length after its start, in its item and in its hold', async () => {
    const leases: unknown[] = []
    beforeNext(api.documents, 'record', () => leases.push(...api.stored.items()))
    beforeNext(api.ledger, 'capture', () => leases.push(...(api.stored.ledgerOf(WORKSPACE)?.holds ?? [])))
    expect((await api.promote()).status).toBe(200)
    expect(leases).toMatchObject([{ dueAtMs: NOW_MS + LEASE_MS }, { leaseEndsAtMs: NOW_MS + LEASE_MS }])
  })

  it('says which file it is that was archived after it had been looked up', async () => {
    vi.spyOn(api.objects, 'copy').mockRejectedValue(new ServiceError('container_file_archived'))
    const { body } = await api.promote()
    const metadata = { reason: 'container_file_archived', container_id: CONTAINER, path: PATH }
    expect(body).toMatchObject({ error: { metadata } })
  })

  it('logs why the type of its file was not found out', async () => {
    const error = new Error('S3 is on fire')
    api.putFile('data', Buffer.from('x'))
    vi.spyOn(api.objects, 'readStart').mockRejectedValue(error)
    const mime_type = 'application/octet-stream'
    expect(await api.promote({ path: 'data' })).toMatchObject({ status: 200, body: { mime_type } })
    expect(api.logged).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'the type of a file could not be detected', error }),
    )
  })

  it('logs that its hold was not captured', async () => {
    const error = new Error('down')
    vi.spyOn(api.ledger, 'capture').mockRejectedValue(error)
    expect((await api.promote()).status).toBe(200)
    const message = 'leftovers in the ledger not ended, left to others'
    expect(api.logged).toContainEqual(expect.objectContaining({ level: 'warn', message, error }))
  })

  it('that loses a race for the last bytes deletes its copy with the version, and everything else', async () => {
    const { copy, discard: remove } = api.objects
    // The S3 in memory deletes no versions.
    const discard = vi
      .spyOn(api.objects, 'discard')
      .mockImplementation(({ objectKey }, signal) => remove({ objectKey }, signal))
    vi.spyOn(api.objects, 'copy').mockImplementation(async (...args) => {
      const copied = await copy(...args)
      await api.stored.setUsage('ws_1', { quotaBytes: 8, usedBytes: 8 })
      return { ...copied, versionId: 'version-1' }
    })
    await api.workspaces.create(WORKSPACE, { quotaBytes: 8 }, AbortSignal.timeout(1000))
    expect(refusalOf(await api.promote())).toEqual([403, 'storage_quota_exceeded'])
    expect(discard.mock.calls.map(([{ versionId }]) => versionId)).toEqual(['version-1'])
    expect([api.stored.items(), api.objects.documents.size]).toEqual([[], 0])
  })

  it('writes nothing before the rate limit has let it in', async () => {
    let letIn = (_reason: Error) => {}
    const take = () =>
      new Promise<never>((_, reject) => {
        letIn = reject
      })
    const api = createTestApi({ rateLimiter: { ...UNLIMITED, policy: { requestsPerMinute: 1, burst: 1 }, take } })
    const begin = vi.spyOn(api.documents, 'begin')
    const promoting = api.promote()
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
    expect(begin).not.toHaveBeenCalled()
    letIn(new Error('late'))
    expect((await promoting).status).toBe(200)
  })
})
