import { describe, expect, it } from 'vitest'
import { audit } from '../../lib/audit/audit.ts'
import type { AuditDependencies } from '../../lib/audit/audit-workspace.ts'
import type { Finding } from '../../lib/audit/findings.ts'
import { joinSorted } from '../../lib/audit/join-sorted.ts'
import { newAttemptId, newDocumentId, type WorkspaceId } from '../../lib/promotion/ids.ts'
import type { Reservation, WorkspaceDocument } from '../../lib/promotion/ports.ts'
import { createTestApi, NOW_MS } from '../support/test-api.ts'

const { signal } = new AbortController()
const WORKSPACE = 'ws_1' as WorkspaceId
const HOUR_MS = 3_600_000

function setUp() {
  const api = createTestApi()
  const deps: AuditDependencies = { ...api.dependencies, ...api, overview: api.ledger }
  const newReservation = (leaseExpiresAtMs = NOW_MS + 1): Reservation => {
    const ids = { workspaceId: WORKSPACE, documentId: newDocumentId(), attemptId: newAttemptId() }
    return { ...ids, sizeBytes: 100, objectKey: api.dependencies.objectKeys.documentObject(ids), leaseExpiresAtMs }
  }
  const toDocument = (reservation: Reservation) =>
    ({
      ...reservation,
      filename: 'a',
      mimeType: 'b',
      containerId: 'c',
      createdBy: 'd',
      createdAt: new Date(NOW_MS),
    }) as unknown as WorkspaceDocument
  const putObject = ({ objectKey }: { objectKey: string }, sizeBytes = 100) =>
    api.objects.documents.set(objectKey, { bytes: Buffer.alloc(sizeBytes), contentType: undefined })
  const addDocument = async () => {
    const reservation = newReservation()
    await api.ledger.reserve(reservation, signal)
    putObject(reservation)
    await api.documents.record(toDocument(reservation), signal)
    await api.ledger.settle(reservation, signal)
    return toDocument(reservation)
  }
  const run = async (repair = false, dependencies = deps) => {
    const findings: Finding[] = []
    const report = await audit(
      { repair, deleteLostDocuments: repair, onFinding: (finding) => findings.push(finding) },
      dependencies,
      signal,
    )
    return { report, findings }
  }
  /** What is found, found again, mended, and then gone. */
  const expectMended = async (...expected: object[]) => {
    expect((await run()).findings).toEqual(
      expected.map((finding) => ({ workspaceId: WORKSPACE, isRepaired: false, ...finding })),
    )
    expect((await run(true)).findings).toEqual(
      expected.map((finding) => ({ workspaceId: WORKSPACE, isRepaired: true, ...finding })),
    )
    expect((await run()).findings).toEqual([])
  }
  return { ...api, deps, newReservation, toDocument, putObject, addDocument, run, expectMended }
}

describe('audit', () => {
  it('finds nothing wrong where nothing is, and says what it looked at', async () => {
    const { addDocument, run } = setUp()
    await addDocument()
    await addDocument()
    expect(await run()).toEqual({
      report: { workspaces: 1, documents: 2, documentBytes: 200, findings: 0, repaired: 0, isComplete: true },
      findings: [],
    })
  })

  it.each(['reserved', 'copied', 'recorded'])('takes a promotion under way, %s, for no finding', async (step) => {
    const { addDocument, ledger, documents, newReservation, toDocument, putObject, run } = setUp()
    await addDocument()
    const reservation = newReservation()
    await ledger.reserve(reservation, signal)
    if (step !== 'reserved') putObject(reservation)
    if (step === 'recorded') await documents.record(toDocument(reservation), signal)
    expect((await run(true)).findings).toEqual([])
    expect(ledger.workspaces.get(WORKSPACE)?.reservations.size).toBe(1)
  })

  it.each(['begun', 'retired', 'discarded'])('takes a deletion under way, %s, for no finding', async (step) => {
    const { addDocument, ledger, documents, objects, run } = setUp()
    const document = await addDocument()
    const deletion: Reservation = { ...document, attemptId: newAttemptId(), leaseExpiresAtMs: NOW_MS + 1 }
    await ledger.beginDeletion(deletion, signal)
    if (step !== 'begun') await documents.retire(deletion, signal)
    if (step === 'discarded') await objects.discard(document.objectKey, signal)
    expect((await run(true)).findings).toEqual([])
  })

  it('finds and resolves reservations past their lease', async () => {
    const { ledger, newReservation, putObject, expectMended } = setUp()
    const reservation = newReservation(NOW_MS - 600_000)
    await ledger.reserve(reservation, signal)
    putObject(reservation)
    const { documentId } = reservation
    await expectMended({
      kind: 'expired_reservation',
      documentId,
      purpose: 'promotion',
      sizeBytes: 100,
      overdueMs: 600_000,
    })
  })

  it('finds and removes objects that belong to no document', async () => {
    const { addDocument, newReservation, putObject, objects, expectMended } = setUp()
    await addDocument()
    const { objectKey } = newReservation()
    putObject({ objectKey })
    await expectMended({ kind: 'object_without_document', objectKey, sizeBytes: 100 })
    expect(objects.documents.size).toBe(1)
  })

  it('finds the object of another attempt at a document, and leaves the document its own', async () => {
    const { addDocument, putObject, objects, expectMended, deps } = setUp()
    const document = await addDocument()
    const objectKey = deps.objectKeys.documentObject({ ...document, attemptId: newAttemptId() })
    putObject({ objectKey })
    await expectMended({ kind: 'object_without_document', objectKey, sizeBytes: 100 })
    expect([...objects.documents.keys()]).toEqual([document.objectKey])
  })

  it('reports what is not named as documents are, and does not touch it', async () => {
    const { addDocument, putObject, run, objects } = setUp()
    await addDocument()
    putObject({ objectKey: 'documents/ws_1/README.md' })
    expect((await run(true)).findings).toMatchObject([{ kind: 'object_without_document', isRepaired: false }])
    expect(objects.documents.size).toBe(2)
  })

  it('finds documents that have lost their object; mending gives their bytes back', async () => {
    const { addDocument, objects, ledger, expectMended } = setUp()
    const { documentId, objectKey } = await addDocument()
    objects.documents.delete(objectKey)
    await expectMended({ kind: 'document_without_object', documentId, objectKey, sizeBytes: 100 })
    expect(ledger.workspaces.get(WORKSPACE)?.remainingBytes).toBe(1000)
  })

  it('does not delete lost documents unless it is told to', async () => {
    const { addDocument, objects, documents, deps } = setUp()
    const { objectKey } = await addDocument()
    objects.documents.delete(objectKey)
    const findings: Finding[] = []
    await audit({ repair: true, deleteLostDocuments: false, onFinding: (one) => findings.push(one) }, deps, signal)
    expect(findings).toMatchObject([{ kind: 'document_without_object', isRepaired: false }])
    expect(documents.documents.size).toBe(1)
  })

  it('leaves a reservation that is not long overdue to the resolver', async () => {
    const { ledger, newReservation, run } = setUp()
    await ledger.reserve(newReservation(NOW_MS - 599_999), signal)
    expect((await run(true)).findings).toEqual([])
  })

  it('reports a document whose object has another size, and leaves that to people', async () => {
    const { addDocument, putObject, run } = setUp()
    const document = await addDocument()
    putObject(document, 99)
    const expected = {
      kind: 'wrong_size',
      documentId: document.documentId,
      sizeBytes: 100,
      objectBytes: 99,
      isRepaired: false,
    }
    expect((await run(true)).findings).toMatchObject([expected])
  })

  it('takes a deletion that came second for what it is: it holds no bytes', async () => {
    const { addDocument, ledger, documents, run } = setUp()
    const document = await addDocument()
    await addDocument()
    const first: Reservation = { ...document, attemptId: newAttemptId(), leaseExpiresAtMs: NOW_MS + 1 }
    await ledger.beginDeletion(first, signal)
    await documents.retire(first, signal)
    await ledger.release(first, signal)
    await ledger.beginDeletion({ ...first, attemptId: newAttemptId() }, signal)
    const { findings } = await run(true)
    expect(findings.filter(({ kind }) => kind === 'drift')).toEqual([])
  })

  it('counts the reservation of a twin beside the document it is too late for', async () => {
    const { addDocument, ledger, newReservation, run } = setUp()
    const { documentId } = await addDocument()
    await ledger.reserve({ ...newReservation(), documentId }, signal)
    expect((await run(true)).findings).toEqual([])
    expect(ledger.workspaces.get(WORKSPACE)?.remainingBytes).toBe(800)
  })

  it.each([-30, 40])('finds and corrects a drift of %d bytes', async (drift) => {
    const { addDocument, ledger, expectMended } = setUp()
    await addDocument()
    const workspace = ledger.workspaces.get(WORKSPACE)
    if (workspace) workspace.remainingBytes -= drift
    await expectMended({ kind: 'drift', usedBytes: 100 + drift, expectedBytes: 100 })
  })

  it('finds a workspace that has objects but no ledger, and makes one', async () => {
    const { addDocument, ledger, expectMended } = setUp()
    await addDocument()
    ledger.workspaces.clear()
    await expectMended({ kind: 'drift', usedBytes: 0, expectedBytes: 100 })
    expect(ledger.workspaces.get(WORKSPACE)?.remainingBytes).toBe(900)
  })

  it('finds and aborts old uploads, and leaves the object of the same key and young uploads alone', async () => {
    const { addDocument, objects, expectMended } = setUp()
    const { objectKey } = await addDocument()
    objects.uploads.push({ objectKey, startedAtMs: NOW_MS - HOUR_MS })
    await expectMended({ kind: 'old_upload', objectKey, ageMs: HOUR_MS })
    expect(objects.documents.size).toBe(1)
    objects.uploads.push({ objectKey, startedAtMs: NOW_MS - HOUR_MS + 1 })
    expect(objects.uploads).toHaveLength(1)
  })

  it('does not correct what changes while it adds up, and says so', async () => {
    const { addDocument, ledger, deps, newReservation, run } = setUp()
    await addDocument()
    const list = deps.documents.list
    const busy = async function* (...args: Parameters<typeof list>) {
      yield* list(...args)
      const reservation = newReservation()
      await ledger.reserve(reservation, signal)
      await ledger.release(reservation, signal)
    }
    const { findings } = await run(true, { ...deps, documents: { ...deps.documents, list: busy } })
    expect(findings).toEqual([{ workspaceId: WORKSPACE, kind: 'not_added_up', isRepaired: false }])
    expect(ledger.workspaces.get(WORKSPACE)?.remainingBytes).toBe(900)
  })

  it('streams: a workspace of a million documents does not fill memory', async () => {
    const { deps, toDocument, newReservation, ledger, run } = setUp()
    const count = 1_000_000
    const document = toDocument(newReservation())
    const keyOf = (i: number) => `documents/ws_1/file_${String(i).padStart(7, '0')}/a`
    const every = async function* <Element>(make: (i: number) => Element) {
      for (let i = 0; i < count; i++) yield make(i)
    }
    const documents = {
      ...deps.documents,
      list: () => every((i) => ({ ...document, documentId: `file_${i}` as never, objectKey: keyOf(i) })),
    }
    const objects = { ...deps.objects, listObjects: () => every((i) => ({ objectKey: keyOf(i), sizeBytes: 100 })) }
    await ledger.correct(WORKSPACE, { usedBytes: 100 * count, version: undefined }, signal)
    const before = process.memoryUsage().heapUsed
    let peak = 0
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().heapUsed)
    }, 5)
    const { report, findings } = await run(false, { ...deps, documents, objects })
    clearInterval(watch)
    expect(findings).toEqual([])
    expect(report.documents).toBe(count)
    // A million documents held at once would take some 400 MB.
    expect((Math.max(peak, process.memoryUsage().heapUsed) - before) / 1024 ** 2).toBeLessThan(150)
  })
})

describe('joinSorted', () => {
  const join = async (left: string[], right: string[]) => {
    const from = async function* (keys: string[]) {
      yield* keys
    }
    const pairs = []
    for await (const pair of joinSorted(from(left), from(right), { left: (key) => key, right: (key) => key })) {
      pairs.push(`${pair.left ?? '-'}${pair.right ?? '-'}`)
    }
    return pairs
  }

  it.each([
    [[], [], []],
    [['a'], [], ['a-']],
    [[], ['a'], ['-a']],
    [
      ['a', 'b', 'd'],
      ['b', 'c', 'd', 'e'],
      ['a-', 'bb', '-c', 'dd', '-e'],
    ],
    [
      ['B', 'a'],
      ['a', '\u{1f4c4}'],
      ['B-', 'aa', '-\u{1f4c4}'],
    ],
    [['\u{ff5e}', '\u{1f4c4}'], ['\u{1f4c4}'], ['\u{ff5e}-', '\u{1f4c4}\u{1f4c4}']],
  ])('%j and %j: %j', async (left, right, pairs) => {
    expect(await join(left, right)).toEqual(pairs)
  })
})
