import { describe, expect, it, vi } from 'vitest'
import { audit } from '../../../lib/audit/audit.ts'
import { type Finding, findingId } from '../../../lib/audit/findings.ts'
import { newAttemptId, type WorkspaceId } from '../../../lib/ids.ts'
import { UnreadableItemError } from '../../../lib/ledger/ports/unreadable-item.ts'
import { countMore } from '../../support/add-up.ts'
import { createPorts, LEASE_MS, type Ports, type Step, WORKSPACE } from '../../support/ports.ts'
import { runAudit } from '../../support/unit/run-audit.ts'

const { signal } = new AbortController()
const HOUR_MS = 3_600_000
const OVERDUE_MS = 600_000
const STRANGER = 'documents/ws_1/README.md'

async function withDocument() {
  const ports = createPorts()
  return { ports, document: await ports.addDocument() }
}

/** What is found, found again, repaired, and then gone. */
async function expectMended(ports: Ports, ...expected: object[]) {
  const found = (isRepaired: boolean) => expected.map((finding) => ({ workspaceId: WORKSPACE, isRepaired, ...finding }))
  expect((await runAudit(ports)).findings).toMatchObject(found(false))
  expect((await runAudit(ports, true)).findings).toMatchObject(found(true))
  expect((await runAudit(ports)).findings).toEqual([])
}

describe('the audit, of what is long past its lease', () => {
  it.each<{ steps: readonly Step[]; leftovers: string[] }>([
    { steps: ['take'], leftovers: ['taking'] },
    { steps: ['take', 'reserve'], leftovers: ['taking', 'promotion'] },
    { steps: ['take', 'reserve', 'unmark'], leftovers: ['promotion'] },
    { steps: ['claim', 'take'], leftovers: ['taking'] },
    // What else there is holds no bytes.
    { steps: ['take', 'late_copy'], leftovers: ['taking'] },
  ])('finds and resolves it after $steps', async ({ steps, leftovers }) => {
    const { ports } = await withDocument()
    const { attemptId } = await ports.run(steps)
    ports.pass(LEASE_MS + OVERDUE_MS)
    const facts = { kind: 'old_leftover', attemptId, sizeBytes: 100, overdueMs: OVERDUE_MS }
    await expectMended(ports, ...leftovers.map((leftover) => ({ ...facts, leftover })))
  })

  it('does not call repaired what it could not resolve', async () => {
    const ports = createPorts()
    await ports.run(['take'])
    ports.pass(LEASE_MS + OVERDUE_MS)
    vi.spyOn(ports.ledger, 'giveBack').mockRejectedValue(new Error('down'))
    expect((await runAudit(ports, true)).findings).toMatchObject([{ kind: 'old_leftover', isRepaired: false }])
  })

  it('resolves what has no ledger only once it has made one', async () => {
    const ports = createPorts()
    await ports.run(['take', 'reserve', 'unmark'])
    ports.ledger.workspaces.clear()
    ports.pass(LEASE_MS + OVERDUE_MS)
    const repaired = async () =>
      (await runAudit(ports, true)).findings.map(({ kind, isRepaired }) => [kind, isRepaired])
    expect((await repaired()).flat()).toEqual(['old_leftover', false, 'drift', true])
    expect(await repaired()).toEqual([['old_leftover', true]])
    expect(ports.state()).toMatchObject({ used: 0, markers: 0, reservations: 0 })
  })
})

describe('the audit, of documents and objects', () => {
  it('finds and removes objects that belong to no document, or to another attempt at it; strangers stay', async () => {
    const { ports, document } = await withDocument()
    const { objectKey } = await ports.run(['copy'])
    const twins = ports.deps.objectKeys.documentObject({ ...document, attemptId: newAttemptId() })
    ports.putObject({ objectKey: twins, sizeBytes: 100 })
    const found = [objectKey, twins].toSorted().map((key) => ({ objectKey: key, sizeBytes: 100 }))
    const kind = 'object_without_document'
    expect(new Set((await runAudit(ports)).findings.map(findingId)).size).toBe(2)
    await expectMended(ports, ...found.map((each) => ({ kind, ...each })))
    ports.putObject({ objectKey: STRANGER, sizeBytes: 1 })
    expect((await runAudit(ports, true)).findings).toMatchObject([{ kind, objectKey: STRANGER, isRepaired: false }])
    expect([...ports.objects.documents.keys()].toSorted()).toEqual([STRANGER, document.objectKey].toSorted())
  })

  it('finds documents that have lost their object; gives their bytes back only if it is told to', async () => {
    const { ports, document } = await withDocument()
    const { documentId, objectKey } = document
    ports.objects.documents.delete(objectKey)
    const findings: Finding[] = []
    const options = { repair: true, deleteLostDocuments: false, onFinding: (one: Finding) => void findings.push(one) }
    await audit(options, ports.deps, signal)
    const finding = { kind: 'document_without_object', documentId, objectKey, sizeBytes: 100 }
    expect(findings).toMatchObject([{ ...finding, isRepaired: false }])
    expect(ports.state()).toMatchObject({ used: 100, documents: 1 })
    await expectMended(ports, finding)
    expect(ports.state()).toMatchObject({ used: 0, documents: 0 })
  })

  it('reports a document whose object has another size, and leaves that to people', async () => {
    const { ports, document } = await withDocument()
    ports.putObject({ ...document, sizeBytes: 99 })
    const sizes = { documentId: document.documentId, sizeBytes: 100, objectBytes: 99 }
    expect((await runAudit(ports, true)).findings).toMatchObject([{ kind: 'wrong_size', ...sizes, isRepaired: false }])
  })

  it('compares SHA-256 only when asked to, and leaves it to people when an object has another one, or none', async () => {
    const { ports, document } = await withDocument()
    const { documentId, objectKey, sha256 } = document
    const describing = vi.spyOn(ports.objects, 'describeObject')
    const find = async (comparesSha256: boolean, object?: { sha256: string | undefined }) => {
      describing.mockResolvedValue(object && { sizeBytes: 100, ...object })
      const findings: Finding[] = []
      const options = { repair: true, deleteLostDocuments: true, comparesSha256 }
      await audit({ ...options, onFinding: (one) => void findings.push(one) }, ports.deps, signal)
      return findings
    }
    const wrong = { kind: 'wrong_sha256', documentId, objectKey, sha256, isRepaired: false }
    expect(await find(true, { sha256: 'ab' })).toMatchObject([{ ...wrong, objectSha256: 'ab' }])
    expect(await find(true, { sha256: undefined })).toMatchObject([{ ...wrong, objectSha256: null }])
    expect([await find(true, { sha256 }), await find(true)]).toEqual([[], []])
    expect(describing).toHaveBeenCalledTimes(4)
    expect(await find(false, { sha256: 'ab' })).toEqual([])
    const [[key] = []] = ports.documents.documents
    ports.documents.documents.set(`${key}`, { ...document, sha256: undefined })
    expect(await find(true, { sha256: 'ab' })).toEqual([])
    expect(describing).toHaveBeenCalledTimes(4)
  })

  it('finds and aborts old uploads, and leaves the object of the same key and young uploads alone', async () => {
    const { ports, document } = await withDocument()
    const { objectKey } = document
    const { uploads } = ports.objects
    uploads.push({ objectKey, startedAtMs: ports.clock.nowMs - HOUR_MS })
    await expectMended(ports, { kind: 'old_upload', objectKey, ageMs: HOUR_MS })
    uploads.push({ objectKey, startedAtMs: ports.clock.nowMs - HOUR_MS + 1 })
    expect((await runAudit(ports, true)).findings).toEqual([])
    expect([ports.objects.documents.size, uploads.length]).toEqual([1, 1])
  })
})

it.each([-30, 40])('the audit finds and corrects a drift of %d bytes', async (drift) => {
  const { ports } = await withDocument()
  countMore(ports, drift)
  await expectMended(ports, { kind: 'drift', usedBytes: 100 + drift, expectedBytes: 100 })
})

describe('fixed: the audit, of what cannot be read', () => {
  const UNREADABLE = new UnreadableItemError('a number beyond 2^53')
  const OTHER = 'ws_2' as WorkspaceId
  const finding = { workspaceId: WORKSPACE, kind: 'unreadable_item', message: UNREADABLE.message, isRepaired: false }
  const drift = { workspaceId: OTHER, kind: 'drift', isRepaired: true }

  /** Two workspaces, each with a drift that is to be found. */
  async function setUp() {
    const { ports } = await withDocument()
    await ports.addDocument(ports.begin({ workspaceId: OTHER }))
    for (const workspaceId of [WORKSPACE, OTHER]) countMore(ports, 7, workspaceId)
    return ports
  }

  it('reports a reservation, and corrects nothing in its workspace, but goes on with the others', async () => {
    const ports = await setUp()
    const { list } = ports.reservations
    vi.spyOn(ports.reservations, 'list').mockImplementation((workspaceId, ...rest) => {
      if (workspaceId === WORKSPACE) throw UNREADABLE
      return list(workspaceId, ...rest)
    })
    const { report, findings } = await runAudit(ports, true)
    expect(findings).toMatchObject([finding, drift])
    expect(report).toMatchObject({ workspaces: 2, findings: 2, repaired: 1 })
    expect(ports.state()).toMatchObject({ used: 107 })
  })

  it('reports a document, compares the others with their objects, and corrects nothing', async () => {
    const ports = await setUp()
    const bad = await ports.addDocument()
    const lost = await ports.addDocument()
    ports.objects.documents.delete(lost.objectKey)
    const { listItems, find } = ports.documents
    vi.spyOn(ports.documents, 'listItems').mockImplementation(async function* (workspaceId, listSignal, options) {
      for await (const each of listItems(workspaceId, listSignal)) {
        if (each.documentId !== bad.documentId) yield each
        else options?.onUnreadable?.(UNREADABLE)
      }
    })
    vi.spyOn(ports.documents, 'findEvenDeleted').mockImplementation(async (workspaceId, documentId, findSignal) => {
      if (documentId === bad.documentId) throw UNREADABLE
      return find(workspaceId, documentId, findSignal)
    })
    const { findings, notAddedUp } = await runAudit(ports, true)
    expect(findings).toMatchObject([finding, { kind: 'document_without_object', documentId: lost.documentId }, drift])
    expect(notAddedUp).toEqual([{ workspaceId: WORKSPACE, reason: 'unreadable' }])
    // Its object is not mistaken for one without a document.
    expect(ports.objects.documents.has(bad.objectKey)).toBe(true)
    expect(ports.state()).toMatchObject({ used: 207 })
  })
})
