import { afterEach, describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { resolveWorkspace } from '../../lib/ledger/resolve-workspace.ts'
import { refusalOf } from '../support/api/promotion-answers.ts'
import { createTestApi, NOW_MS } from '../support/api/test-api.ts'
import { interruptedAt } from '../support/interrupted.ts'
import { replaceWaits } from '../support/virtual-waits.ts'

replaceWaits()
afterEach(() => vi.restoreAllMocks())

const LOST = new ServiceError('service_unavailable', { isUnanswered: true, cause: new Error('lost') })
const WORKSPACE = 'ws_1' as WorkspaceId
const LATER_MS = 20 * 60_000

type Api = ReturnType<typeof createTestApi>
type Port = 'objects' | 'ledger' | 'documents' | 'reservations'
type Method = (...args: unknown[]) => Promise<unknown>

const state = (api: Api) => {
  const workspace = api.ledger.workspaces.get(WORKSPACE)
  return {
    documents: api.documents.documents.size,
    objects: api.objects.documents.size,
    used: (workspace?.quotaBytes ?? 0) - (workspace?.remainingBytes ?? 0),
    markers: (workspace?.takings.size ?? 0) + (workspace?.releases.size ?? 0),
    reservations: api.reservations.items.size,
  }
}
const NOTHING = { documents: 0, objects: 0, used: 0, markers: 0, reservations: 0 }
const ONE_DOCUMENT = { documents: 1, objects: 1, used: 8, markers: 0, reservations: 0 }

/** Runs the resolver on what is left to it, and again on what that leaves. */
async function resolveLater(api: Api) {
  vi.restoreAllMocks()
  for (let looks = 1; looks <= 3; looks++) {
    const deps = { ...api.dependencies, now: () => NOW_MS + looks * LATER_MS }
    const bounds = { maxResolutions: 100, leaseUntilMs: deps.now() + LATER_MS }
    await resolveWorkspace(WORKSPACE, bounds, { ...deps, workspaces: api.ledger }, new AbortController().signal)
  }
}

describe.each([
  ['plain', {}],
  ['with an Idempotency-Key', { 'Idempotency-Key': 'order-4711' }],
] as [string, { 'Idempotency-Key'?: string }][])('a promotion in trouble, %s', (_, headers) => {
  it('keeps the first error when the undo fails, too, and leaves the reservation to the resolver', async () => {
    const api = createTestApi()
    const { copy } = api.objects
    vi.spyOn(api.objects, 'copy').mockImplementation(async (...args) => {
      await copy(...args)
      throw LOST
    })
    vi.spyOn(api.objects, 'discard').mockRejectedValue(new Error('the undo failed'))
    const mark = vi.spyOn(api.ledger, 'mark')
    const release = vi.spyOn(api.ledger, 'release')
    const response = await api.promote({ headers })
    expect(refusalOf(response)).toEqual([503, 'service_unavailable'])
    // The object may still be there: as long as it is, it stays counted.
    expect([mark.mock.calls, release.mock.calls]).toEqual([[], []])
    expect(state(api)).toMatchObject({ documents: 0, objects: 1, used: 8 })
    expect(api.logged).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringContaining('undo') }),
    )
    await resolveLater(api)
    expect(state(api)).toEqual(NOTHING)
  })

  it.each([
    ['fenced', 'promotion_timed_out'],
    ['taken', 'promotion_in_progress'],
  ] as const)('finds its record %s: undoes its own work, and only that', async (outcome, reason) => {
    const api = createTestApi()
    await api.promote({})
    vi.spyOn(api.documents, 'record').mockResolvedValue(outcome)
    expect(refusalOf(await api.promote({ headers }))).toEqual([503, reason])
    expect(state(api)).toEqual(ONE_DOCUMENT)
  })
})

describe.each([
  ['plain', {}],
  ['with an Idempotency-Key', { 'Idempotency-Key': 'order-4711' }],
])('fixed: a promotion that a resolver takes for dead, whose clock is three minutes ahead, %s', (_, headers) => {
  it('either succeeds and is counted, or fails and is not, whatever step it is at', async () => {
    for (let at = 0; ; at++) {
      const stores = createTestApi()
      const now = () => NOW_MS + 3 * 60_000
      const resolver = { ...stores.dependencies, workspaces: stores.ledger, now }
      const bounds = { maxResolutions: 100, leaseUntilMs: now() + 60_000 }
      const { deps, calls } = interruptedAt(at, stores.dependencies, async () => {
        await resolveWorkspace(WORKSPACE, bounds, resolver, new AbortController().signal)
      })
      const { quota, reservations, documents, objects } = deps
      const { status } = await createTestApi({ quota, reservations, documents, objects }).promote({ headers })
      expect([at, [200, 503]]).toEqual([at, expect.arrayContaining([status])])
      const isMade = status === 200
      expect([at, stores.documents.documents.size]).toEqual([at, isMade ? 1 : 0])
      await resolveLater(stores)
      expect([at, state(stores)]).toEqual([at, isMade ? ONE_DOCUMENT : NOTHING])
      if (calls() <= at) return
    }
  })
})

describe('a promotion', () => {
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
      const target = api[port as Port] as unknown as Record<string, Method>
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
    const api = createTestApi({ rateLimiter: { policy: { requestsPerMinute: 1, burst: 1 }, take } })
    const reserve = vi.spyOn(api.ledger, 'take')
    const promoting = api.promote({})
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
    expect(reserve).not.toHaveBeenCalled()
    letIn(new Error('late'))
    expect((await promoting).status).toBe(200)
  })
})
