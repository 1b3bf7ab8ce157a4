import { describe, expect, it, vi } from 'vitest'
import { deleteDocument } from '../../lib/promotion/delete-document.ts'
import { type DocumentId, newAttemptId, newDocumentId, type WorkspaceId } from '../../lib/promotion/ids.ts'
import type { Reservation } from '../../lib/promotion/ports.ts'
import { resolveExpiredReservations } from '../../lib/promotion/resolve-expired-reservations.ts'
import { createTestApi, NOW_MS } from '../support/test-api.ts'

const { signal } = new AbortController()
const BOUNDS = { maxResolutions: 100, timeoutEachMs: 1000 }

function setUp() {
  const api = createTestApi()
  const deps = { ...api, overview: api.ledger, now: () => NOW_MS, leaseMs: 120_000, log: api.dependencies.log }
  const reservation = (change: Partial<Reservation> = {}): Reservation => {
    const ids = { workspaceId: 'ws_1' as WorkspaceId, documentId: newDocumentId(), attemptId: newAttemptId() }
    const objectKey = `documents/ws_1/${ids.documentId}/${ids.attemptId}`
    return { ...ids, sizeBytes: 100, objectKey, leaseExpiresAtMs: NOW_MS, ...change }
  }
  /** An attempt that got this far and died. */
  const die = async (step: 'reserved' | 'copied' | 'recorded', change: Partial<Reservation> = {}) => {
    const one = reservation(change)
    await api.ledger.reserve(one, signal)
    if (step !== 'reserved')
      api.objects.documents.set(one.objectKey, { bytes: Buffer.alloc(100), contentType: undefined })
    const names = { filename: 'a', mimeType: 'b', containerId: 'c', createdBy: 'd', createdAt: new Date(NOW_MS) }
    if (step === 'recorded') await api.documents.record({ ...one, ...names } as never, signal)
    return one
  }
  const resolve = (bounds = BOUNDS, runSignal = signal) => resolveExpiredReservations(bounds, deps, runSignal)
  const state = (workspaceId = 'ws_1') => {
    const workspace = api.ledger.workspaces.get(workspaceId as WorkspaceId)
    return {
      used: (workspace?.quotaBytes ?? 0) - (workspace?.remainingBytes ?? 0),
      reservations: workspace?.reservations.size,
      documents: api.documents.documents.size,
      objects: api.objects.documents.size,
    }
  }
  return { api, deps, die, resolve, state }
}

describe('resolveExpiredReservations', () => {
  it.each(['reserved', 'copied'] as const)(
    'releases what was only %s: no object, no bytes, and no way back',
    async (step) => {
      const { api, die, resolve, state } = setUp()
      const dead = await die(step)
      expect(await resolve()).toEqual({
        workspaces: 1,
        settled: 0,
        released: 1,
        failed: 0,
        oldestMs: 0,
        isComplete: true,
      })
      expect(state()).toEqual({ used: 0, reservations: 0, documents: 0, objects: 0 })
      expect(await api.documents.record(dead as never, signal)).toBe('fenced')
    },
  )

  it('settles what was recorded: the document stays, and stays counted', async () => {
    const { die, resolve, state } = setUp()
    await die('recorded')
    expect(await resolve()).toMatchObject({ settled: 1, released: 0, failed: 0 })
    expect(state()).toEqual({ used: 100, reservations: 0, documents: 1, objects: 1 })
  })

  it('leaves reservations alone whose lease still runs', async () => {
    const { die, resolve, state } = setUp()
    await die('copied', { leaseExpiresAtMs: NOW_MS + 1 })
    expect(await resolve()).toMatchObject({ workspaces: 1, settled: 0, released: 0 })
    expect(state()).toEqual({ used: 100, reservations: 1, documents: 0, objects: 1 })
  })

  it.each(['nothing', 'retire', 'discard'] as const)('finishes a deletion that died after %s', async (done) => {
    const { api, deps, die, resolve, state } = setUp()
    const one = await die('recorded')
    await api.ledger.settle(one, signal)
    const next = {
      nothing: () => vi.spyOn(api.documents, 'retire'),
      retire: () => vi.spyOn(api.objects, 'discard'),
      discard: () => vi.spyOn(api.ledger, 'release'),
    }
    const spy = next[done]().mockRejectedValueOnce(new Error('died'))
    await expect(deleteDocument(one, { ...deps, leaseMs: 0 }, signal)).rejects.toThrow('died')
    spy.mockRestore()
    expect(state().used).toBe(100)
    await resolve()
    expect(state()).toEqual({ used: 0, reservations: 0, documents: 0, objects: 0 })
    expect(await deleteDocument(one, deps, signal)).toBeUndefined()
  })

  it('gives nothing back for a deletion that came too late', async () => {
    const { api, deps, die, resolve, state } = setUp()
    await die('recorded', { sizeBytes: 300 })
    const one = await die('recorded')
    await resolve()
    await api.ledger.beginDeletion({ ...one, attemptId: newAttemptId(), leaseExpiresAtMs: NOW_MS }, signal)
    api.documents.documents.delete(`ws_1/${one.documentId}`)
    expect(await resolveExpiredReservations(BOUNDS, deps, signal)).toMatchObject({ settled: 1, released: 0 })
    expect(state().used).toBe(400)
  })

  it('removes an object that S3 finished after its promotion was given up', async () => {
    const { api, die, resolve, state } = setUp()
    const one = await die('reserved')
    await api.ledger.releaseAndWatch(one, signal)
    api.objects.documents.set(one.objectKey, { bytes: Buffer.alloc(100), contentType: undefined })
    expect(await resolve()).toMatchObject({ settled: 1 })
    expect(state()).toEqual({ used: 0, reservations: 0, documents: 0, objects: 0 })
  })

  it('lets a workspace that fails stop no other, and takes it up again in the next run', async () => {
    const { api, die, resolve, state } = setUp()
    const bad = await die('copied')
    await die('copied', { workspaceId: 'ws_2' as WorkspaceId, objectKey: 'documents/ws_2/a/b' })
    const { fence } = api.documents
    vi.spyOn(api.documents, 'fence').mockImplementation(async (attempt, fenceSignal) => {
      if (attempt.documentId === bad.documentId) throw new Error('bad workspace')
      return fence(attempt, fenceSignal)
    })
    expect(await resolve()).toMatchObject({ workspaces: 2, released: 1, failed: 1 })
    expect(state('ws_2')).toMatchObject({ used: 0, reservations: 0 })
    expect(api.logged).toContainEqual(
      expect.objectContaining({ level: 'error', workspace_id: 'ws_1', document_id: bad.documentId }),
    )
    vi.restoreAllMocks()
    expect(await resolve()).toMatchObject({ released: 1, failed: 0 })
    expect(state()).toMatchObject({ used: 0, reservations: 0 })
  })

  it('gives up on one that hangs, and goes on', async () => {
    const { api, die, resolve } = setUp()
    await die('copied')
    vi.spyOn(api.objects, 'discard').mockImplementationOnce(
      (_, discardSignal) =>
        new Promise((_resolve, reject) => discardSignal.addEventListener('abort', () => reject(discardSignal.reason))),
    )
    await die('copied', { workspaceId: 'ws_2' as WorkspaceId, objectKey: 'documents/ws_2/a/b' })
    expect(await resolve({ ...BOUNDS, timeoutEachMs: 50 })).toMatchObject({ released: 1, failed: 1, isComplete: true })
  })

  it('stops at its bound and says so, and reports the oldest', async () => {
    const { die, resolve } = setUp()
    await die('reserved', { leaseExpiresAtMs: NOW_MS - 60_000 })
    await die('reserved')
    expect(await resolve({ ...BOUNDS, maxResolutions: 1 })).toMatchObject({
      released: 1,
      isComplete: false,
      oldestMs: 60_000,
    })
    expect(await resolve()).toMatchObject({ released: 1, isComplete: true, oldestMs: 0 })
  })

  it('ends when its time is over, with what it has done', async () => {
    const { api, die, resolve } = setUp()
    await die('reserved')
    const controller = new AbortController()
    api.ledger.list = async function* () {
      controller.abort()
      yield* []
      throw new Error('aborted')
    }
    expect(await resolve(BOUNDS, controller.signal)).toMatchObject({ isComplete: false, released: 0 })
  })

  it('may run twice at once', async () => {
    const { die, resolve, state } = setUp()
    for (const step of ['reserved', 'copied'] as const) await die(step)
    await Promise.all([resolve(), resolve(), resolve()])
    expect(state()).toEqual({ used: 0, reservations: 0, documents: 0, objects: 0 })
  })
})

describe('deleteDocument', () => {
  it('takes record, object and bytes away, and can be repeated', async () => {
    const { api, deps, die, state } = setUp()
    const one = await die('recorded')
    await api.ledger.settle(one, signal)
    expect(await deleteDocument(one, deps, signal)).toMatchObject({ documentId: one.documentId, sizeBytes: 100 })
    expect(await deleteDocument(one, deps, signal)).toBeUndefined()
    expect(state()).toEqual({ used: 0, reservations: 0, documents: 0, objects: 0 })
  })

  it('waits for the promotion to be settled: a late repetition of its reserve might count the bytes again', async () => {
    const { deps, die, resolve, state } = setUp()
    const one = await die('recorded')
    await expect(deleteDocument(one, deps, signal)).rejects.toMatchObject({ reason: 'promotion_in_progress' })
    expect(state()).toEqual({ used: 100, reservations: 1, documents: 1, objects: 1 })
    await resolve()
    expect(await deleteDocument(one, deps, signal)).toBeDefined()
    expect(state()).toEqual({ used: 0, reservations: 0, documents: 0, objects: 0 })
  })

  it('gives the bytes back once when two delete the same document', async () => {
    const { api, deps, die, state } = setUp()
    await die('recorded', { sizeBytes: 300 })
    const one = await die('recorded')
    await api.ledger.settle(one, signal)
    await Promise.allSettled([deleteDocument(one, deps, signal), deleteDocument(one, deps, signal)])
    expect(state().used).toBe(300)
  })

  it('knows no document of another workspace', async () => {
    const { deps, die, state } = setUp()
    const { documentId } = await die('recorded')
    expect(
      await deleteDocument({ workspaceId: 'ws_2' as WorkspaceId, documentId: documentId as DocumentId }, deps, signal),
    ).toBeUndefined()
    expect(state().documents).toBe(1)
  })
})
