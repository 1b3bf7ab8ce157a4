import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import { formatFileId } from '../../lib/ids.ts'
import { UNLIMITED } from '../support/api/documents-api.ts'
import {
  all,
  cutBehind,
  listOf,
  manyPaths,
  outcomesOf,
  usePromotionsOfMany,
} from '../support/api/promotions-of-many.ts'
import { CSV, createTestApi } from '../support/api/test-api.ts'
import { NOW_MS } from '../support/ports.ts'
import { createLimiter } from '../support/stores/keys-and-limits.ts'

const prepare = usePromotionsOfMany()
const MANY = { prefix: 'many/' }
/** The gateway's time for a request, and less than five seconds of work. */
const [LONG_MS, TOO_SHORT_MS] = [28_000, 7499]
const countingLimiter = () => createLimiter(UNLIMITED.policy, () => NOW_MS)
const watchLimit = ({ dependencies }: ReturnType<typeof createTestApi>) => {
  const take = vi.spyOn(dependencies.rateLimiter, 'take')
  return () => take.mock.calls.map(([, , count = 1]) => count)
}

describe('POST /v1/containers/{container_id}/promote: ends, and says where to go on', () => {
  it('before what does not fit into an answer', async () => {
    const api = prepare()
    const wanted = Array.from({ length: 500 }, (_, number) => `${'"'.repeat(985)}${number + 100}é`)
    for (const path of wanted) api.putFile(path.normalize('NFD'), CSV)
    // The S3 in memory sorts all these keys for each list.
    vi.spyOn(api.objects, 'hasContainer').mockResolvedValue(true)
    const first = listOf(await api.promoteAll({ paths: wanted }))
    expect(first.data.length).toBeLessThan(500)
    expect([first.has_more, first.next]).toEqual([true, first.data.at(-1)?.file_id])
    const rest = await api.promoteAll({ paths: wanted, after: first.next })
    expect(outcomesOf(rest)).toEqual(all('container_file_not_found', wanted.slice(first.data.length)))
  })

  it('where the rate limit ends, which counts each file', async () => {
    const { rateLimiter } = createTestApi().dependencies
    const api = prepare(manyPaths(10), { rateLimiter })
    const taken = watchLimit(api)
    const response = await api.promoteAll(MANY)
    expect(outcomesOf(response)).toEqual(all('promoted', manyPaths(5)))
    expect(response.body).toMatchObject(cutBehind(manyPaths(5)))
    expect(response.headers).toMatchObject({ ratelimit: '"default";r=0;t=5' })
    // The request, and the rest of the burst: the process knows that there is no more.
    expect(taken()).toEqual([1, 4])
    expect(await api.promoteAll(MANY)).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
    expect(api.stored.documents().length).toBe(5)
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
    const { copy } = api.objects
    vi.spyOn(api.objects, 'copy').mockImplementation(async (...args) => {
      remainingMs = TOO_SHORT_MS
      return copy(...args)
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
    const api = prepare(paths, { rateLimiter: countingLimiter() })
    const taken = watchLimit(api)
    const lookUp = vi.spyOn(api.objects, 'findContainerFile')
    // Ten at once, of three seconds each.
    const remainingMs = () => LONG_MS - 300 * lookUp.mock.calls.length
    const response = await api.promoteAll({ paths }, { remainingMs })
    const done = outcomesOf(response).length
    expect(done).toBeGreaterThan(50)
    expect(outcomesOf(response)).toEqual(all('promoted', paths.slice(0, done)))
    expect(response.body).toMatchObject(cutBehind(paths.slice(0, done)))
    expect(taken()).toEqual([1, 99])
  })

  it('before a file for which the ledger is crowded, having waited for it as long as there is time', async () => {
    const api = prepare(manyPaths(2))
    const taken = watchLimit(api)
    const take = vi.spyOn(api.ledger, 'take').mockResolvedValueOnce({ outcome: 'crowded' })
    expect(outcomesOf(await api.promoteAll({ paths: manyPaths(1) }))).toEqual(all('promoted', manyPaths(1)))
    expect(take).toHaveBeenCalledTimes(2)
    // A single file is counted with its request.
    expect(taken()).toEqual([1])

    take.mockResolvedValue({ outcome: 'crowded' })
    let asked = 0
    const remainingMs = () => LONG_MS - 100 * ++asked
    const response = await api.promoteAll({ paths: manyPaths(2) }, { remainingMs })
    expect(outcomesOf(response)).toEqual(all('kept', manyPaths(1)))
    expect(response.body).toMatchObject({ has_more: true })
    expect(api.stored.documents().length).toBe(1)
  })

  it.each([
    ['a store fails', true, [1, 99, 20]],
    ['no time is left, and counts none of them', false, [1, 99]],
  ])('before the second hundred for which %s', async (_, isFailing, expected) => {
    const api = prepare(manyPaths(120), { rateLimiter: countingLimiter() })
    const taken = watchLimit(api)
    const { findAll } = api.documents
    if (isFailing)
      vi.spyOn(api.documents, 'findAll')
        .mockImplementationOnce((...args) => findAll(...args))
        .mockRejectedValueOnce(new ServiceError('service_unavailable'))
    const remainingMs = () => (isFailing || api.stored.documents().length < 100 ? LONG_MS : TOO_SHORT_MS)
    const first = listOf(await api.promoteAll(MANY, { remainingMs }))
    expect([first.data.length, first.next, taken()]).toEqual([100, formatFileId('many/099.csv'), expected])
    const rest = listOf(await api.promoteAll({ ...MANY, after: first.next }))
    expect([rest.data.length, rest.next]).toEqual([20, null])
  })
})
