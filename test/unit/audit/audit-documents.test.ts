import { describe, expect, it, vi } from 'vitest'
import { audit } from '../../../lib/audit/audit.ts'
import { type Finding, findingId } from '../../../lib/audit/findings.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
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
