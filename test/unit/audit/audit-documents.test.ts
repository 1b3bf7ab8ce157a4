import { describe, expect, it, vi } from 'vitest'
import { audit } from '../../../lib/audit/audit.ts'
import { type Finding, findingId } from '../../../lib/audit/findings.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import { UnreadableItemError } from '../../../lib/ledger/ports/unreadable-item.ts'
import { createPorts, type Ports, WORKSPACE } from '../../support/ports.ts'
import { newRelease } from '../../support/stores/ledger-values.ts'
import { runAudit } from '../../support/unit/run-audit.ts'

const { signal } = new AbortController()

/** A document whose object is gone. */
async function lostIn(ports: Ports, workspaceId = WORKSPACE) {
  const one = await ports.addDocument(ports.begin({ workspaceId }))
  ports.objects.documents.delete(one.objectKey)
  const { documentId } = one
  return { one, finding: expect.objectContaining({ kind: 'document_without_object', workspaceId, documentId }) }
}

describe('the audit, of a document without its object', () => {
  it.each<[string, (ports: Ports, documentId: string) => unknown]>([
    [
      'another attempt at it is being undone',
      async (ports, documentId) => {
        const twin = ports.begin({ documentId: documentId as never })
        await ports.ledger.mark(newRelease(await ports.run(['take', 'reserve', 'unmark'], twin), 'undo'), signal)
      },
    ],
    ['there is no ledger', ({ ledger }) => ledger.workspaces.clear()],
  ])('reports it while %s', async (_, meanwhile) => {
    const ports = createPorts()
    const { one, finding } = await lostIn(ports)
    await meanwhile(ports, one.documentId)
    expect((await runAudit(ports)).findings).toContainEqual(finding)
  })

  it('does not report it when its record is retired by then', async () => {
    const ports = createPorts()
    const { one } = await lostIn(ports)
    vi.spyOn(ports.objects, 'hasObject').mockImplementation(async () => {
      await ports.documents.delete(one, signal)
      return false
    })
    expect((await runAudit(ports)).findings).toEqual([])
  })

  it('is reported for one workspace where only that one is audited, and for all otherwise', async () => {
    const ports = createPorts()
    const other = 'ws_2' as WorkspaceId
    const both = [await lostIn(ports), await lostIn(ports, other)]
    const findings: Finding[] = []
    const onFinding = (finding: Finding) => void findings.push(finding)
    const options = { repair: false, deleteLostDocuments: false, onFinding }
    const report = await audit({ ...options, workspaceId: other }, ports.deps, signal)
    expect(report).toMatchObject({ workspaces: 1, documents: 1 })
    expect(findings.splice(0)).toEqual([both[1]?.finding])
    await audit(options, ports.deps, signal)
    expect(findings).toEqual(both.map(({ finding }) => finding))
    const ids = both.map(({ one }) => `document_without_object ${one.workspaceId} ${one.objectKey}`)
    expect(findings.map(findingId)).toEqual(ids)
  })
})

describe('the audit, of a document that has expired', () => {
  const HOUR_MS = 3_600_000
  async function expiredFor(ports: Ports, overdueMs: number) {
    const document = { ...(await ports.addDocument()), expiresAt: new Date(ports.clock.nowMs - overdueMs) }
    ports.documents.documents.set(`${WORKSPACE}/${document.documentId}`, document)
    return document
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
    ['deleted', ({ documents }, document) => documents.delete(document, signal)],
    [
      'kept for longer',
      ({ documents }, { workspaceId, documentId, expiresAt: _, ...document }) =>
        documents.documents.set(`${workspaceId}/${documentId}`, { workspaceId, documentId, ...document }),
    ],
  ])('does not report it when it has been %s by then', async (_, change) => {
    const ports = createPorts()
    const document = await expiredFor(ports, 2 * HOUR_MS)
    const find = ports.documents.find.bind(ports.documents)
    const reading = vi.spyOn(ports.documents, 'find').mockImplementation(async (...args) => {
      await change(ports, document)
      return find(...args)
    })
    expect((await runAudit(ports)).findings).toEqual([])
    expect(reading).toHaveBeenCalled()
  })
})

describe('the audit, of an object without a document', () => {
  it('reports it beside attempts that are under way', async () => {
    const ports = createPorts()
    await ports.run(['take'])
    await ports.run(['take', 'reserve', 'unmark'])
    const { objectKey } = await ports.run(['copy'])
    expect((await runAudit(ports)).findings).toMatchObject([{ kind: 'object_without_document', objectKey }])
  })

  it('does not report it when it is gone by then', async () => {
    const ports = createPorts()
    await ports.run(['copy'])
    vi.spyOn(ports.objects, 'hasObject').mockResolvedValue(false)
    expect((await runAudit(ports)).findings).toEqual([])
  })

  it('takes an unreadable record for its document, and no other failure', async () => {
    const ports = createPorts()
    await ports.addDocument()
    await ports.run(['copy'])
    const find = vi.spyOn(ports.documents, 'findEvenDeleted')
    find.mockRejectedValue(new UnreadableItemError('a number beyond 2^53'))
    expect((await runAudit(ports)).findings).toEqual([])
    find.mockRejectedValue(new Error('down'))
    await expect(runAudit(ports)).rejects.toThrow('down')
  })
})
