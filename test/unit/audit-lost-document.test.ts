import { describe, expect, it, vi } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import { audit } from '../../lib/maintenance/audit.ts'
import { type Finding, findingId } from '../../lib/maintenance/findings.ts'
import { runAudit } from '../support/maintenance/run-audit.ts'
import { createPorts, type Ports, WORKSPACE } from '../support/ports.ts'
import { newRelease } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()
const OTHER = 'ws_2' as WorkspaceId

/** A document whose object is gone. */
async function lostIn(ports: Ports, workspaceId = WORKSPACE) {
  const one = ports.begin({ workspaceId })
  await ports.addDocument(one)
  ports.objects.documents.delete(one.objectKey)
  return one
}
const lost = ({ workspaceId, documentId }: { workspaceId: WorkspaceId; documentId: string }) =>
  expect.objectContaining({ kind: 'document_without_object', workspaceId, documentId })

describe('the audit, of a document without its object', () => {
  it('reports it', async () => {
    const ports = createPorts()
    const one = await lostIn(ports)
    expect((await runAudit(ports)).findings).toEqual([lost(one)])
  })

  it('reports it while another attempt at it is being undone', async () => {
    const ports = createPorts()
    const one = await lostIn(ports)
    const twin = await ports.run(['take', 'open', 'unmark'], ports.begin({ documentId: one.documentId }))
    await ports.ledger.mark(newRelease(twin, 'undo'), signal)
    expect((await runAudit(ports)).findings).toContainEqual(lost(one))
  })

  it('does not report it when its record is retired by then', async () => {
    const ports = createPorts()
    const one = await lostIn(ports)
    const { hasObject } = ports.objects
    vi.spyOn(ports.objects, 'hasObject').mockImplementation(async (...args) => {
      await ports.documents.retire(one, signal)
      return hasObject(...args)
    })
    expect((await runAudit(ports)).findings).toEqual([])
  })

  it('does not report it when its record is gone by then', async () => {
    const ports = createPorts()
    await lostIn(ports)
    vi.spyOn(ports.documents, 'find').mockResolvedValue(undefined)
    expect((await runAudit(ports)).findings).toEqual([])
  })

  it('reports it where there is no ledger', async () => {
    const ports = createPorts()
    const one = await lostIn(ports)
    ports.ledger.workspaces.clear()
    expect((await runAudit(ports)).findings).toContainEqual(lost(one))
  })
})

describe('the audit of one workspace', () => {
  it('looks at that one only', async () => {
    const ports = createPorts()
    const [one, other] = [await lostIn(ports), await lostIn(ports, OTHER)]
    const findings: Finding[] = []
    const options = {
      repair: false,
      deleteLostDocuments: false,
      onFinding: (finding: Finding) => void findings.push(finding),
    }
    const report = await audit({ ...options, workspaceId: OTHER }, ports.deps, signal)
    expect(findings).toEqual([lost(other)])
    expect(report).toMatchObject({ workspaces: 1, documents: 1, isComplete: true })
    await audit(options, ports.deps, signal)
    expect(new Set(findings.map(findingId)).size).toBe(2)
    expect(findings).toContainEqual(lost(one))
  })
})
