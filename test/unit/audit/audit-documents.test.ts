import { describe, expect, it, vi } from 'vitest'
import { newAttemptId } from '../../../lib/ids.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import { beforeNext } from '../../support/beside.ts'
import { WORKSPACES_TABLE } from '../../support/dynamodb/memory-tables.ts'
import { createPorts, type Ports, signal, WORKSPACE, withDocument } from '../../support/ports.ts'
import { expectMended, runAudit } from '../../support/unit/run-audit.ts'

const STRANGER = 'documents/ws_1/README.md'

/** A world with a document whose object is gone. */
async function withLost() {
  const { ports, document: one } = await withDocument()
  ports.objects.documents.delete(one.objectKey)
  return { ports, one }
}
/** A world with an object that no document has. */
async function withObject() {
  const ports = createPorts()
  return { ports, objectKey: (await ports.run(['copy'])).objectKey }
}

describe('the audit, of a document without its object', () => {
  it.each<[string, (ports: Ports, one: WorkspaceDocument) => unknown]>([
    [
      'a stray of another attempt at it stands beside it',
      (ports, { documentId }) => ports.run(['stray'], ports.begin({ documentId })),
    ],
    ['there is no ledger', ({ stored }) => stored.removeAll(WORKSPACES_TABLE)],
  ])('reports it while %s', async (_, meanwhile) => {
    const { ports, one } = await withLost()
    const { workspaceId, documentId } = one
    await meanwhile(ports, one)
    const finding = { kind: 'document_without_object', workspaceId, documentId }
    expect((await runAudit(ports)).findings).toContainEqual(expect.objectContaining(finding))
  })

  it('does not report it when it is deleted by then', async () => {
    const { ports, one } = await withLost()
    vi.spyOn(ports.objects, 'hasObject').mockImplementation(async () => {
      await ports.deleteDocument(one)
      return false
    })
    expect((await runAudit(ports)).findings).toEqual([])
  })
})

describe('the audit, of a document that has expired', () => {
  const HOUR_MS = 3_600_000
  function expiredFor(ports: Ports, overdueMs: number) {
    return ports.addDocument(undefined, { expiresAt: new Date(ports.clock.nowMs - overdueMs) })
  }

  it('reports it after an hour, and leaves it to the resolver', async () => {
    const ports = createPorts()
    const { documentId } = await expiredFor(ports, HOUR_MS)
    await expiredFor(ports, HOUR_MS - 1)
    await ports.addDocument()
    const finding = { workspaceId: WORKSPACE, kind: 'overdue_expiry', documentId, sizeBytes: 100, overdueMs: HOUR_MS }
    for (const repair of [false, true]) {
      expect((await runAudit(ports, repair)).findings).toEqual([{ ...finding, isRepaired: false }])
    }
    expect(ports.state()).toMatchObject({ used: 300, documents: 3, objects: 3 })
  })

  it.each<[string, (ports: Ports, document: WorkspaceDocument) => unknown]>([
    ['deleted', (ports, document) => ports.deleteDocument(document)],
    ['kept for longer', (ports, document) => ports.setExpiry(document, undefined)],
  ])('does not report it when it has been %s by then', async (_, change) => {
    const ports = createPorts()
    const document = await expiredFor(ports, 2 * HOUR_MS)
    const reading = beforeNext(ports.documents, 'find', () => change(ports, document))
    expect((await runAudit(ports)).findings).toEqual([])
    expect(reading).toHaveBeenCalled()
  })
})

describe('the audit, of an object without a document', () => {
  it('finds and removes objects that belong to no document, or to another attempt at it; strangers stay', async () => {
    const { ports, objectKey } = await withObject()
    const document = await ports.addDocument()
    const twins = ports.deps.objectKeys.documentObject({ ...document, attemptId: newAttemptId() })
    ports.putObject({ objectKey: twins, sizeBytes: 100 })
    const found = [objectKey, twins].toSorted().map((key) => ({ objectKey: key, sizeBytes: 100 }))
    const kind = 'object_without_document'
    await expectMended(ports, ...found.map((each) => ({ kind, ...each })))
    ports.putObject({ objectKey: STRANGER, sizeBytes: 1 })
    expect((await runAudit(ports, true)).findings).toMatchObject([{ kind, objectKey: STRANGER, isRepaired: false }])
    expect([...ports.objects.documents.keys()].toSorted()).toEqual([STRANGER, document.objectKey].toSorted())
  })

  it('says nothing of one whose workspace is being erased, as items go first; of one that is only to be erased, it does', async () => {
    const { ports, objectKey } = await withObject()
    await ports.addDocument()
    await ports.closeWorkspace()
    expect((await runAudit(ports)).findings).toMatchObject([{ kind: 'object_without_document', objectKey }])
    const shown = ports.stored.ledgerOf(WORKSPACE)?.erasure
    if (shown)
      await ports.deps.erasures.change(WORKSPACE, { shown, to: { ...shown, state: 'erasing', dueAtMs: 1 } }, signal)
    expect((await runAudit(ports)).findings).toEqual([])
  })

  it.each<[string, (ports: Ports, one: ReturnType<Ports['begin']>) => unknown]>([
    ['is gone', async (ports, one) => ports.deleteDocument(await ports.addDocument(one))],
    ["has another attempt's item", (ports, { documentId }) => ports.run(['begin'], ports.begin({ documentId }))],
    ["has another attempt's stray", (ports, { documentId }) => ports.run(['stray'], ports.begin({ documentId }))],
  ])('reports it where its document %s', async (_, before) => {
    const ports = createPorts()
    const one = ports.begin()
    await before(ports, one)
    ports.putObject(one)
    const { objectKey } = one
    expect((await runAudit(ports)).findings).toMatchObject([{ kind: 'object_without_document', objectKey }])
  })

  it('does not report it when it is gone by then', async () => {
    const { ports } = await withObject()
    vi.spyOn(ports.objects, 'hasObject').mockResolvedValue(false)
    expect((await runAudit(ports)).findings).toEqual([])
  })

  it('fails when its document cannot be looked for', async () => {
    const { ports } = await withObject()
    vi.spyOn(ports.documents, 'find').mockRejectedValue(new Error('down'))
    await expect(runAudit(ports)).rejects.toThrow('down')
  })
})
