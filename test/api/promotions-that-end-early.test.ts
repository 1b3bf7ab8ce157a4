import { describe, expect, it, vi } from 'vitest'
import { formatFileId } from '../../lib/ids.ts'
import { createAdmission } from '../../lib/promotion/admission.ts'
import { all, listOf, manyPaths, outcomesOf, usePromotionsOfMany } from '../support/api/promotions-of-many.ts'
import { CSV, createTestApi } from '../support/api/test-api.ts'
import { beforeNext } from '../support/beside.ts'
import { NOW_MS } from '../support/ports.ts'

const prepare = usePromotionsOfMany()
const MANY = { prefix: 'many/' }
/** The gateway's time for a request, and less than five seconds of work. */
const [LONG_MS, TOO_SHORT_MS] = [28_000, 7499]
/** A list that ends behind the last of these says so. */
const cutBehind = (paths: readonly string[]) => ({ has_more: true, next: formatFileId(String(paths.at(-1))) })
const watchLimit = ({ dependencies }: ReturnType<typeof createTestApi>) => {
  const take = vi.spyOn(dependencies.rateLimiter, 'take')
  return () => take.mock.calls.map(([, , count = 1]) => count)
}

describe('POST /v1/containers/{container_id}/promote: ends, and says where to go on', () => {
  it('where the rate limit ends, and how long to wait: for as many as are left, or as it lets through at once', async () => {
    const { rateLimiter } = createTestApi().dependencies
    const api = prepare(manyPaths(10), { rateLimiter })
    const taken = watchLimit(api)
    const response = await api.promoteAll(MANY)
    expect(outcomesOf(response)).toEqual(all('promoted', manyPaths(5)))
    expect(response.body).toMatchObject({ ...cutBehind(manyPaths(5)), retry_after_seconds: 5 })
    expect(response.headers).toMatchObject({ ratelimit: '"default";r=0;t=5' })
    // The request, and the rest of the burst: the process knows that there is no more.
    expect(taken()).toEqual([1, 4])
    expect(await api.promoteAll(MANY)).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
    expect(api.stored.documents().length).toBe(5)
  })

  it('after what the rate limit counts: not what is kept as it is, but what is refused, or gets another end', async () => {
    const api = prepare(manyPaths(4))
    const taken = watchLimit(api)
    await api.promoteAll(MANY)
    expect(taken()).toEqual([1, 3])
    await api.promoteAll(MANY)
    expect(taken().slice(2)).toEqual([1])
    const paths = ['gone/1', 'gone/2', ...manyPaths(6, 2)]
    for (const path of manyPaths(2, 4)) api.putFile(path, CSV)
    const response = await api.promoteAll({ paths, expires_in_seconds: 3600 })
    const [gone, kept, made] = [['gone/1', 'gone/2', ...manyPaths(2, 6)], manyPaths(2, 2), manyPaths(2, 4)]
    const refused = all('container_file_not_found', gone)
    const expected = [...refused.slice(0, 2), ...all('kept', kept), ...all('promoted', made), ...refused.slice(2)]
    expect(outcomesOf(response)).toEqual(expected)
    expect(taken().slice(3)).toEqual([1, 5])
    api.clock.nowMs += 600_000
    await api.promoteAll({ paths: made, expires_in_seconds: 3600 })
    expect(taken().slice(5)).toEqual([1, 1])
  })

  it.each([
    { requestsPerMinute: 1, files: 3, first: [3, 120], again: [2, 60] },
    { requestsPerMinute: 60, files: 105, first: [11, 95], again: [3, 2] },
    { requestsPerMinute: 600, files: 350, first: [7, 25], again: [5, 1] },
  ])('and goes on as told, at the pace of the limit: %j', async ({ requestsPerMinute, files, first, again }) => {
    const api = createTestApi()
    for (const path of manyPaths(files)) api.putFile(path, Buffer.from('x'))
    const token = api.apiKeys.add({ kind: 'management', requestsPerMinute })
    /** The program of docs/clients.md. */
    const keepAll = async (outcome: string) => {
      let [requests, seconds] = [0, 0]
      const done = []
      for (let page: ReturnType<typeof listOf> | undefined; page?.has_more !== false; requests++) {
        const answer = await api.promoteAll({ ...MANY, after: page?.next }, { token })
        if (answer.status === 200) done.push(...outcomesOf(answer))
        if (answer.status === 200) page = listOf(answer)
        const pause = answer.status === 200 ? (page?.retry_after_seconds ?? 0) : Number(answer.headers['retry-after'])
        seconds += pause
        api.clock.nowMs += 1000 * pause
      }
      expect(done).toEqual(all(outcome, manyPaths(files)))
      return [requests, seconds]
    }
    expect(await keepAll('promoted')).toEqual(first)
    expect(await keepAll('kept')).toEqual(again)
  })

  it('nowhere when the rate limiter does not answer', async () => {
    const api = prepare(manyPaths(3))
    vi.spyOn(api.dependencies.rateLimiter, 'take').mockRejectedValue(new Error('no table'))
    expect(outcomesOf(await api.promoteAll(MANY))).toHaveLength(3)
  })

  it('before a file that would begin too late', async () => {
    const paths = manyPaths(40)
    const api = prepare(paths)
    let remainingMs = LONG_MS
    beforeNext(api.objects, 'copy', () => {
      remainingMs = TOO_SHORT_MS
    })
    const first = await api.promoteAll(MANY, { remainingMs: () => remainingMs })
    const done = outcomesOf(first).length
    expect([done > 0, done < 40]).toEqual([true, true])
    expect(outcomesOf(first)).toEqual(all('promoted', paths.slice(0, done)))
    expect(first.body).toMatchObject(cutBehind(paths.slice(0, done)))
    // Files done behind the end of the list are counted now, and kept when the next request answers with them.
    const made = api.stored.documents().length
    const counted = { Promotions: made, PromotedBytes: made * CSV.length }
    expect(api.published).toContainEqual(expect.objectContaining(counted))
    const { data } = listOf(await api.promoteAll({ ...MANY, after: listOf(first).next }))
    expect(data.map(({ path, error }) => [path, error])).toEqual(paths.slice(done).map((path) => [path, undefined]))
    expect(api.stored.documents().length).toBe(40)
  })

  it('with progress in each request, however slow the lookups of paths are', async () => {
    const paths = manyPaths(100)
    const api = prepare(paths)
    const taken = watchLimit(api)
    const lookUp = vi.spyOn(api.objects, 'findContainerFile')
    // Ten at once, of three seconds each.
    const remainingMs = () => LONG_MS - 300 * lookUp.mock.calls.length
    const response = await api.promoteAll({ paths }, { remainingMs })
    const done = outcomesOf(response).length
    expect(done).toBeGreaterThan(10)
    expect(outcomesOf(response)).toEqual(all('promoted', paths.slice(0, done)))
    expect(response.body).toMatchObject(cutBehind(paths.slice(0, done)))
    expect(taken()).toEqual([1, done - 1])
  })

  it('before a file for which the ledger is crowded, having waited for it as long as there is time', async () => {
    // Which lets everybody try, so that the ledger itself is asked.
    const admission = createAdmission({ now: () => NOW_MS, random: () => 1 })
    const api = prepare(manyPaths(2), { admission })
    const taken = watchLimit(api)
    const holds = vi.spyOn(api.ledger, 'hold').mockResolvedValueOnce({ outcome: 'crowded' })
    expect(outcomesOf(await api.promoteAll({ paths: manyPaths(1) }))).toEqual(all('promoted', manyPaths(1)))
    expect(holds).toHaveBeenCalledTimes(2)
    // A single file is counted with its request.
    expect(taken()).toEqual([1])

    holds.mockResolvedValue({ outcome: 'crowded' })
    let asked = 0
    const remainingMs = () => LONG_MS - 100 * ++asked
    const response = await api.promoteAll({ paths: manyPaths(2) }, { remainingMs })
    expect(outcomesOf(response)).toEqual(all('kept', manyPaths(1)))
    expect(response.body).toMatchObject({ has_more: true })
    expect(api.stored.documents().length).toBe(1)
  })
})
