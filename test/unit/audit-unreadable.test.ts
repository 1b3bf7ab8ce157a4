import { describe, expect, it, vi } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import { UnreadableItemError } from '../../lib/unreadable-item.ts'
import { runAudit } from '../support/maintenance/run-audit.ts'
import { createPorts, WORKSPACE } from '../support/ports.ts'

describe('fixed: audit, of what cannot be read', () => {
  const UNREADABLE = new UnreadableItemError('a number beyond 2^53')
  const OTHER = 'ws_2' as WorkspaceId
  const finding = { workspaceId: WORKSPACE, kind: 'unreadable_item', message: UNREADABLE.message, isRepaired: false }
  /** Two workspaces, each with a drift that is to be found. */
  const setUp = async () => {
    const ports = createPorts()
    for (const workspaceId of [WORKSPACE, OTHER]) {
      await ports.addDocument(ports.begin({ workspaceId }))
      const workspace = ports.ledger.workspaces.get(workspaceId)
      if (workspace) workspace.remainingBytes -= 7
    }
    return ports
  }
  const drift = { workspaceId: OTHER, kind: 'drift', isRepaired: true }

  it('reports a ledger, and goes on with the others', async () => {
    const ports = await setUp()
    const { read } = ports.ledger
    vi.spyOn(ports.ledger, 'read').mockImplementation(async (workspaceId, ...rest) => {
      if (workspaceId === WORKSPACE) throw UNREADABLE
      return read(workspaceId, ...rest)
    })
    const { report, findings } = await runAudit(ports, true)
    expect(findings).toMatchObject([finding, drift])
    expect(report).toMatchObject({ workspaces: 2, findings: 2, isComplete: true })
  })

  it('reports a reservation, and corrects nothing in its workspace', async () => {
    const ports = await setUp()
    const { list } = ports.reservations
    vi.spyOn(ports.reservations, 'list').mockImplementation(async function* (workspaceId, ...rest) {
      if (workspaceId === WORKSPACE) throw UNREADABLE
      yield* list(workspaceId, ...rest)
    })
    expect((await runAudit(ports, true)).findings).toMatchObject([finding, drift])
    expect(ports.state()).toMatchObject({ used: 107 })
  })

  it('reports a document, compares the others with their objects, and corrects nothing', async () => {
    const ports = await setUp()
    const bad = await ports.addDocument()
    const lost = await ports.addDocument()
    ports.objects.documents.delete(lost.objectKey)
    const { listRows, find } = ports.documents
    vi.spyOn(ports.documents, 'listRows').mockImplementation(async function* (workspaceId, listSignal, options) {
      const { onUnreadable } = options ?? {}
      for await (const each of listRows(workspaceId, listSignal)) {
        if (each.documentId !== bad.documentId) yield each
        else if (onUnreadable) onUnreadable(UNREADABLE)
        else throw UNREADABLE
      }
    })
    vi.spyOn(ports.documents, 'find').mockImplementation(async (workspaceId, documentId, findSignal) => {
      if (documentId === bad.documentId) throw UNREADABLE
      return find(workspaceId, documentId, findSignal)
    })
    const { findings } = await runAudit(ports, true)
    expect(findings).toMatchObject([finding, { kind: 'document_without_object', documentId: lost.documentId }, drift])
    // Its object is not mistaken for one without a document.
    expect(ports.objects.documents.has(bad.objectKey)).toBe(true)
    expect(ports.state()).toMatchObject({ used: 207 })
  })
})
