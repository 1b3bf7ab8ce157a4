import { describe, expect, it, vi } from 'vitest'
import { newAttemptId } from '../../lib/ids.ts'
import { audit } from '../../lib/maintenance/audit.ts'
import { type Finding, findingId } from '../../lib/maintenance/findings.ts'
import { runAudit } from '../support/maintenance/run-audit.ts'
import { ALL_STEPS, createPorts, LEASE_MS, type Ports, type Step, WORKSPACE } from '../support/ports.ts'
import { newRelease } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()
const HOUR_MS = 3_600_000
const OVERDUE_MS = 600_000

/** What is found, found again, repaired, and then gone. */
async function expectMended(ports: Ports, ...expected: object[]) {
  const found = (isRepaired: boolean) => expected.map((finding) => ({ workspaceId: WORKSPACE, isRepaired, ...finding }))
  expect((await runAudit(ports)).findings).toEqual(found(false))
  expect((await runAudit(ports, true)).findings).toEqual(found(true))
  expect((await runAudit(ports)).findings).toEqual([])
}

const remaining = ({ ledger }: Ports) => ledger.workspaces.get(WORKSPACE)?.remainingBytes

describe('audit', () => {
  it.each<{ steps: readonly Step[]; purposes: string[] }>([
    { steps: ['take', 'copy'], purposes: ['taking'] },
    { steps: ['take', 'open'], purposes: ['taking', 'promotion'] },
    { steps: ['take', 'open', 'unmark', 'copy'], purposes: ['promotion'] },
    { steps: ['claim', 'take', 'copy'], purposes: ['taking'] },
    // What else there is holds no bytes.
    { steps: ['take', 'late_copy', 'copy'], purposes: ['taking'] },
  ])('finds and resolves what is long past its lease after $steps', async ({ steps, purposes }) => {
    const ports = createPorts()
    await ports.addDocument()
    const { attemptId } = await ports.run(steps)
    ports.pass(LEASE_MS + OVERDUE_MS)
    const expected = purposes.map((purpose) => ({
      kind: 'expired_reservation',
      attemptId,
      purpose,
      sizeBytes: 100,
      overdueMs: OVERDUE_MS,
    }))
    const { findings } = await runAudit(ports)
    expect(findings.filter(({ kind }) => kind === 'expired_reservation')).toMatchObject(expected)
    const repaired = (await runAudit(ports, true)).findings
    expect(repaired.filter(({ kind }) => kind === 'expired_reservation')).toMatchObject(
      expected.map((each) => ({ ...each, isRepaired: true })),
    )
    expect((await runAudit(ports)).findings).toEqual([])
  })

  it('finds and completes a deletion that is long past its lease', async () => {
    const ports = createPorts()
    const document = await ports.addDocument()
    const release = newRelease(document, 'deletion', { leaseExpiresAtMs: ports.clock.nowMs })
    await ports.reservations.note('deletion', { ...document, leaseExpiresAtMs: ports.clock.nowMs }, signal)
    await ports.documents.retire(release, signal)
    await ports.objects.discard(document.objectKey, signal)
    await ports.ledger.mark(release, signal)
    ports.pass(OVERDUE_MS)
    const { attemptId } = document
    const [purpose, kind] = ['deletion', 'expired_reservation']
    const finding = { kind, attemptId, purpose, sizeBytes: 100, overdueMs: OVERDUE_MS }
    // By its marker and by its tombstone, which are one finding to whoever counts them.
    const found = (await runAudit(ports)).findings
    expect(found).toMatchObject([finding, finding])
    expect(new Set(found.map(findingId)).size).toBe(1)
    expect((await runAudit(ports, true)).findings).toMatchObject([{ ...finding, isRepaired: true }])
    expect((await runAudit(ports)).findings).toEqual([])
    expect(remaining(ports)).toBe(1000)
  })

  it('does not call repaired what it could not resolve', async () => {
    const ports = createPorts()
    await ports.run(['take'])
    ports.pass(LEASE_MS + OVERDUE_MS)
    vi.spyOn(ports.ledger, 'release').mockRejectedValue(new Error('down'))
    expect((await runAudit(ports, true)).findings).toMatchObject([{ kind: 'expired_reservation', isRepaired: false }])
  })

  it('finds and removes objects that belong to no document', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const one = await ports.run(['copy'])
    await expectMended(ports, { kind: 'object_without_document', objectKey: one.objectKey, sizeBytes: 100 })
    expect(ports.objects.documents.size).toBe(1)
  })

  it('finds the object of another attempt at a document, and leaves the document its own', async () => {
    const ports = createPorts()
    const document = await ports.addDocument()
    const objectKey = ports.deps.objectKeys.documentObject({ ...document, attemptId: newAttemptId() })
    ports.putObject({ objectKey, sizeBytes: 100 })
    await expectMended(ports, { kind: 'object_without_document', objectKey, sizeBytes: 100 })
    expect([...ports.objects.documents.keys()]).toEqual([document.objectKey])
  })

  it('reports what is not named as documents are, and does not touch it', async () => {
    const ports = createPorts()
    await ports.addDocument()
    ports.putObject({ objectKey: 'documents/ws_1/README.md', sizeBytes: 100 })
    expect((await runAudit(ports, true)).findings).toMatchObject([
      { kind: 'object_without_document', isRepaired: false },
    ])
    expect(ports.objects.documents.size).toBe(2)
  })

  it('finds documents that have lost their object; repairing gives their bytes back', async () => {
    const ports = createPorts()
    const { documentId, objectKey } = await ports.addDocument()
    ports.objects.documents.delete(objectKey)
    await expectMended(ports, { kind: 'document_without_object', documentId, objectKey, sizeBytes: 100 })
    expect(remaining(ports)).toBe(1000)
  })

  it('does not delete lost documents unless it is told to', async () => {
    const ports = createPorts()
    const { objectKey } = await ports.addDocument()
    ports.objects.documents.delete(objectKey)
    const findings: Finding[] = []
    const options = { repair: true, deleteLostDocuments: false, onFinding: (one: Finding) => void findings.push(one) }
    await audit(options, ports.deps, signal)
    expect(findings).toMatchObject([{ kind: 'document_without_object', isRepaired: false }])
    expect(ports.documents.documents.size).toBe(1)
  })

  it('reports a document whose object has another size, and leaves that to people', async () => {
    const ports = createPorts()
    const document = await ports.addDocument()
    ports.putObject({ ...document, sizeBytes: 99 })
    const { documentId } = document
    const sizes = { sizeBytes: 100, objectBytes: 99 }
    expect((await runAudit(ports, true)).findings).toMatchObject([
      { kind: 'wrong_size', documentId, ...sizes, isRepaired: false },
    ])
  })

  it.each([-30, 40])('finds and corrects a drift of %d bytes', async (drift) => {
    const ports = createPorts()
    await ports.addDocument()
    const workspace = ports.ledger.workspaces.get(WORKSPACE)
    if (workspace) workspace.remainingBytes -= drift
    await expectMended(ports, { kind: 'drift', usedBytes: 100 + drift, expectedBytes: 100 })
  })

  it.each<{ steps: readonly Step[]; heldBytes: number }>([
    { steps: ['take'], heldBytes: 100 },
    { steps: ['take', 'open'], heldBytes: 100 },
    { steps: ['take', 'open', 'unmark'], heldBytes: 100 },
    { steps: ['take', 'open', 'copy', 'record'], heldBytes: 100 },
    { steps: ALL_STEPS, heldBytes: 100 },
    { steps: ['take', 'unmark', 'forestall'], heldBytes: 0 },
  ])('counts $heldBytes bytes for an attempt after $steps when it corrects a drift', async ({ steps, heldBytes }) => {
    const ports = createPorts()
    await ports.addDocument()
    await ports.run(steps)
    const workspace = ports.ledger.workspaces.get(WORKSPACE)
    if (workspace) workspace.remainingBytes = 0
    await expectMended(ports, { kind: 'drift', usedBytes: 1000, expectedBytes: 100 + heldBytes })
  })

  it('finds a workspace that has objects but no ledger, and makes one', async () => {
    const ports = createPorts()
    await ports.addDocument()
    ports.ledger.workspaces.clear()
    await expectMended(ports, { kind: 'drift', usedBytes: 0, expectedBytes: 100 })
    expect(remaining(ports)).toBe(900)
  })

  it('resolves what has no ledger only once it has made one', async () => {
    const ports = createPorts()
    await ports.run(['take', 'open', 'unmark'])
    ports.ledger.workspaces.clear()
    ports.putObject({ objectKey: 'documents/ws_1/README.md', sizeBytes: 1 })
    ports.pass(LEASE_MS + OVERDUE_MS)
    const repaired = async () =>
      (await runAudit(ports, true)).findings.map(({ kind, isRepaired }) => [kind, isRepaired])
    const stranger = ['object_without_document', false]
    expect(await repaired()).toEqual([['expired_reservation', false], stranger, ['drift', true]])
    expect(await repaired()).toEqual([['expired_reservation', true], stranger])
    expect(ports.state()).toMatchObject({ used: 0, markers: 0, reservations: 0 })
  })

  it('finds and aborts old uploads, and leaves the object of the same key and young uploads alone', async () => {
    const ports = createPorts()
    const { objectKey } = await ports.addDocument()
    const { uploads } = ports.objects
    uploads.push({ objectKey, startedAtMs: ports.clock.nowMs - HOUR_MS })
    await expectMended(ports, { kind: 'old_upload', objectKey, ageMs: HOUR_MS })
    expect(ports.objects.documents.size).toBe(1)
    uploads.push({ objectKey, startedAtMs: ports.clock.nowMs - HOUR_MS + 1 })
    expect((await runAudit(ports, true)).findings).toEqual([])
    expect(uploads).toHaveLength(1)
  })

  it('finds a document that no list shows, and gives it its place', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const { documentId } = await ports.addDocument()
    ports.documents.unlisted.add(`${WORKSPACE}/${documentId}`)
    await expectMended(ports, { kind: 'unlisted_document', documentId })
  })
})
