import { beforeEach, describe, expect, it } from 'vitest'
import { checkShardOf } from '../../lib/aws/dynamodb/workspace-item.ts'
import type { ListOrder } from '../../lib/documents/document-listing.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import type { WorkspaceDocument } from '../../lib/ledger/ports/document-records.ts'
import { newWorkspaceId } from '../support/stores/ledger-values.ts'
import type { openTableStores } from '../support/stores/table-stores.ts'
import { DAY_MS, useDocuments } from '../support/stores/use-documents.ts'

const { signal } = new AbortController()
/** No other suite's documents expire so early. */
const START_MS = 1_000_000
/** So many seconds after the start. */
const at = (seconds: number) => new Date(START_MS + seconds * 1000)
const idsOf = (documents: readonly { documentId: string }[]) => documents.map(({ documentId }) => documentId)

type Stores = Pick<ReturnType<typeof openTableStores>, 'documents' | 'expiries' | 'listing'>

export function describeDocumentExpiries(name: string, make: (now: () => number) => Stores): void {
  describe(`document expiries: ${name}`, () => {
    let stores: Stores
    const store = useDocuments((now) => {
      stores = make(now)
      return stores.documents
    })
    const { clock, document, find, findEvenDeleted, recorded } = store
    const setClock = (seconds: number) => {
      clock.nowMs = at(seconds).getTime()
    }
    beforeEach(() => setClock(0))

    const expiring = (seconds?: number, created = 0, workspaceId = store.workspaceId) => {
      const expiresAt = seconds !== undefined && { expiresAt: at(seconds) }
      return recorded({ ...document(), createdAt: at(created), ...expiresAt, workspaceId })
    }
    const expire = (of: WorkspaceDocument, bySeconds: number) =>
      stores.documents.delete(of, signal, at(bySeconds).getTime())
    /** Of what is remembered; undefined when nothing is. */
    const isExpired = async (of: WorkspaceDocument) => {
      const found = await findEvenDeleted(of)
      return found && ('isDeleted' in found ? (found.isExpired ?? false) : 'a document')
    }
    const page = (order: ListOrder, limit: number) =>
      stores.listing.page({ workspaceId: store.workspaceId, order, after: undefined, limit }, signal)
    const setExpiry = (of: WorkspaceDocument, seconds?: number) =>
      stores.expiries.setExpiry(of, seconds === undefined ? undefined : at(seconds), signal)
    /** What the shard of the last of these workspaces has of them. */
    const expiredBy = async (seconds: number, of = [store.workspaceId]) => {
      const shard = Number(checkShardOf(of.at(-1) ?? store.workspaceId))
      const pages = stores.expiries.listExpired({ shard, nowMs: at(seconds).getTime() }, signal)
      const expired = (await Array.fromAsync(pages)).flat().filter(({ workspaceId }) => of.includes(workspaceId))
      return expired.map(({ documentId, expiresAt }) => [documentId, (expiresAt.getTime() - START_MS) / 1000])
    }
    /** A workspace whose shard is that of the test's own, or another. */
    const another = (isInItsShard: boolean): WorkspaceId => {
      const found = newWorkspaceId()
      return (checkShardOf(found) === checkShardOf(store.workspaceId)) === isInItsShard ? found : another(isInItsShard)
    }

    it('are told with the document, field by field, wherever it is read', async () => {
      const one = await expiring(5)
      expect([await find(one), await findEvenDeleted(one), (await store.rowOf(one))?.document]).toEqual([one, one, one])
      expect(await stores.documents.findAllEvenDeleted(one.workspaceId, [one.documentId], signal)).toEqual([one])
      const { documentId, filename, mimeType, sizeBytes, createdAt, containerId } = one
      const listed = { documentId, filename, mimeType, sizeBytes, createdAt, containerId, expiresAt: at(5) }
      expect((await page('asc', 1)).items).toEqual([listed])
      expect(await stores.listing.findAll(one.workspaceId, [documentId], signal)).toEqual([listed])
    })

    it.each([
      [5, 4.999, 'a document'],
      [5, 5, true],
      [undefined, 9, 'a document'],
    ])('delete, expired at %s s, by %s s: it is %s; its bytes are held', async (seconds, by, expected) => {
      const one = await expiring(seconds)
      expect(await expire({ ...one, attemptId: document().attemptId }, by)).toBeUndefined()
      const deleted = expected === true ? { releasedBy: undefined } : undefined
      for (let times = 0; times < 2; times++) expect(await expire(one, by)).toEqual(deleted)
      expect(await isExpired(one)).toBe(expected)
      expect((await store.rowOf(one))?.isUnfinished).toBe(deleted && true)
    })

    it.each([
      ['expired', true],
      ['deleted before', false],
    ])('delete: what was %s is that for a day, whoever goes on with it, and whenever', async (_, was) => {
      const one = await expiring(5)
      await (was ? expire(one, 5) : store.deleteDocument(one))
      setClock(9)
      expect(await expire(one, was ? 4 : 9)).toEqual({ releasedBy: undefined })
      await store.remove(one)
      clock.nowMs += DAY_MS - 1000
      expect(await isExpired(one)).toBe(was)
      clock.nowMs += 1000
      expect(await isExpired(one)).toBeUndefined()
      // What is made there then has nothing of it.
      const later = await recorded({ ...document(one.documentId), createdAt: at(9) })
      expect(await find(later)).toEqual(later)
      expect((await page('asc', 9)).items).toMatchObject([{ createdAt: at(9) }])
      expect(await expiredBy(DAY_MS)).toEqual([])
      await store.deleteDocument(later)
      expect(await isExpired(later)).toBe(false)
    })

    it('a list leaves a document out from that very moment on; its place is still known', async () => {
      const { workspaceId, documentId } = await expiring(5, 1)
      for (const [seconds, shown] of [[4.999, [documentId]] as const, [5, []] as const]) {
        setClock(seconds)
        expect(idsOf((await page('desc', 1)).items)).toEqual(shown)
        expect(idsOf(await stores.listing.findAll(workspaceId, [documentId], signal))).toEqual(shown)
      }
      const place = await stores.listing.positionOf(workspaceId, documentId, signal)
      expect(place).toEqual({ documentId, createdAt: at(1) })
    })

    it('a list fills its pages where many have expired, and tells whether there is more', async () => {
      const documents = await Promise.all(Array.from({ length: 24 }, (_, i) => expiring(i % 8 === 3 ? 50 : 5, i)))
      const inOrder = idsOf(documents.filter(({ expiresAt }) => expiresAt?.getTime() === at(50).getTime()))
      setClock(5)
      for (const [order, ids] of [['asc', inOrder] as const, ['desc', inOrder.toReversed()] as const]) {
        // Behind the last there are only expired ones.
        for (const [limit, hasMore] of [[1, true] as const, [2, true] as const, [3, false] as const]) {
          const { items, ...rest } = await page(order, limit)
          expect([idsOf(items), rest]).toEqual([ids.slice(0, limit), { hasMore }])
        }
      }
      setClock(50)
      expect(await page('asc', 1)).toEqual({ items: [], hasMore: false })
    })

    it.each([
      ['longer', 5, 9],
      ['shorter', 9, 5],
      ['to never', 5, undefined],
      ['from never', undefined, 5],
    ])('setExpiry %s: in both indexes, and the document keeps its place in the list', async (_, before, seconds) => {
      const [first, one, last] = [await expiring(90, 1), await expiring(before, 1.001), await expiring(undefined, 2)]
      expect(await setExpiry(one, seconds)).toBe(true)
      const { expiresAt: __, ...kept } = one
      expect(await find(one)).toEqual({ ...kept, ...(seconds !== undefined && { expiresAt: at(seconds) }) })
      const { items } = await page('asc', 3)
      expect(idsOf(items)).toEqual(idsOf([first, one, last]))
      expect(items[1]?.expiresAt).toEqual(seconds === undefined ? undefined : at(seconds))
      expect(await expiredBy(60)).toEqual(seconds === undefined ? [] : [[one.documentId, seconds]])
      expect(await expire(one, (seconds ?? 10) - 0.001)).toBeUndefined()
    })

    it('setExpiry changes nothing of what has expired, is of another attempt, deleted, or never was', async () => {
      const [one, deleted] = [await expiring(5), await expiring(5)]
      await store.deleteDocument(deleted)
      const others = [{ ...one, attemptId: document().attemptId }, deleted, document()]
      for (const each of others) for (const to of [9, undefined]) expect(await setExpiry(each, to)).toBe(false)
      setClock(5)
      for (const to of [9, undefined]) expect(await setExpiry(one, to)).toBe(false)
      expect(await find(one)).toEqual(one)
      setClock(4.999)
      expect(await setExpiry(one, 9)).toBe(true)
    })

    it('setExpiry leaves alone what has been given another expiry since it was read', async () => {
      const [one, never] = [await expiring(5), await expiring()]
      expect([await setExpiry(one, 9), await setExpiry(never, 9)]).toEqual([true, true])
      for (const each of [one, never]) for (const to of [7, undefined]) expect(await setExpiry(each, to)).toBe(false)
      expect([(await find(one))?.expiresAt, (await find(never))?.expiresAt]).toEqual([at(9), at(9)])
    })

    it('listExpired lists what has expired by then in a shard, oldest first, and nothing that is deleted', async () => {
      const [sibling, elsewhere] = [another(true), another(false)]
      const [third, first, second] = [await expiring(7), await expiring(2), await expiring(6, 0, sibling)]
      const [foreign, gone] = [await expiring(1, 0, elsewhere), await expiring(3)]
      for (const seconds of [8, undefined]) await expiring(seconds)
      await expire(gone, 3)
      const expected = [first, second, third].map(({ documentId }, index) => [documentId, [2, 6, 7][index]])
      expect(await expiredBy(7, [elsewhere, sibling, store.workspaceId])).toEqual(expected)
      expect(await expiredBy(6.999, [elsewhere, sibling])).toEqual(expected.slice(1, 2))
      expect(await expiredBy(9, [store.workspaceId, elsewhere])).toEqual([[foreign.documentId, 1]])
      expect(stores.expiries.expiryShards.map(String)).toContain(checkShardOf(elsewhere))
    })

    it('nextExpiry tells the soonest of a workspace by then, also one that is over, but none that is deleted', async () => {
      const next = (by: number) => stores.expiries.nextExpiry(store.workspaceId, at(by).getTime(), signal)
      await expiring(1, 0, another(true))
      await expiring()
      expect(await next(9)).toBeUndefined()
      const [later, sooner] = [await expiring(7), await expiring(5)]
      expect([await next(4.999), await next(5), await next(9)]).toEqual([undefined, at(5), at(5)])
      setClock(6)
      expect(await next(9)).toEqual(at(5))
      await expire(sooner, 6)
      expect(await next(9)).toEqual(later.expiresAt)
    })
  })
}
