import { describe, expect, it, vi } from 'vitest'
import { findingId } from '../../../lib/audit/findings.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { countMore } from '../../support/add-up.ts'
import { DOCUMENTS_TABLE, WORKSPACES_TABLE } from '../../support/dynamodb/memory-tables.ts'
import { createPorts, ONE_DOCUMENT, WORKSPACE, withDocument } from '../../support/ports.ts'
import { expectMended, runAudit } from '../../support/unit/run-audit.ts'

describe('the audit, of documents and objects', () => {
  it('finds documents that have lost their object; gives their bytes back only if it is told to', async () => {
    const { ports, document } = await withDocument()
    const { documentId, objectKey } = document
    ports.objects.documents.delete(objectKey)
    const { findings } = await runAudit(ports, true, {}, { deleteLostDocuments: false })
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
      return (await runAudit(ports, true, {}, { comparesSha256 })).findings
    }
    const wrong = { kind: 'wrong_sha256', documentId, objectKey, sha256, isRepaired: false }
    expect(await find(true, { sha256: 'ab' })).toMatchObject([{ ...wrong, objectSha256: 'ab' }])
    expect(await find(true, { sha256: undefined })).toMatchObject([{ ...wrong, objectSha256: null }])
    expect([await find(true, { sha256 }), await find(true)]).toEqual([[], []])
    expect(describing).toHaveBeenCalledTimes(4)
    expect(await find(false, { sha256: 'ab' })).toEqual([])
    await ports.stored.change(DOCUMENTS_TABLE, (item) => delete item.sha256)
    expect(await find(true, { sha256: 'ab' })).toEqual([])
    expect(describing).toHaveBeenCalledTimes(4)
  })
})

it('the audit finds and corrects a wrong number of documents, though their bytes are counted right', async () => {
  const { ports } = await withDocument()
  await ports.stored.change(WORKSPACES_TABLE, (item) => Object.assign(item, { documents: { N: '3' } }))
  await expectMended(ports, { kind: 'drift', documents: 3, expectedDocuments: 1 })
  expect(ports.stored.ledgerOf(WORKSPACE)).toMatchObject({ usedBytes: 100, documents: 1 })
})

it.each([-30, 40])('the audit finds and corrects a drift of %d bytes', async (drift) => {
  const { ports } = await withDocument()
  await countMore(ports, drift)
  await expectMended(ports, { kind: 'drift', usedBytes: 100 + drift, expectedBytes: 100 })
  expect(ports.state()).toEqual(ONE_DOCUMENT)
})

describe('fixed: the audit, of what cannot be read', () => {
  const OTHER = 'ws_2' as WorkspaceId
  const drift = { workspaceId: OTHER, kind: 'drift', isRepaired: true }
  const unreadable = { workspaceId: WORKSPACE, kind: 'unreadable_item', isRepaired: false }

  /** Two workspaces, each with a drift that is to be found. */
  async function setUp() {
    const { ports } = await withDocument()
    await ports.addDocument(ports.begin({ workspaceId: OTHER }))
    for (const workspaceId of [WORKSPACE, OTHER]) await countMore(ports, 7, workspaceId)
    return ports
  }

  it('reports a ledger, and corrects nothing in its workspace, but goes on with the others', async () => {
    const ports = await setUp()
    await ports.spoil(WORKSPACES_TABLE, WORKSPACE, 'version')
    const { report, findings } = await runAudit(ports, true)
    const message = `the item of workspace_id ${WORKSPACE} cannot be read: version is not a number`
    expect(findings).toMatchObject([{ ...unreadable, message }, drift])
    expect(report).toMatchObject({ workspaces: 2, findings: 2, repaired: 1 })
  })

  it('reports a document, compares the others with their objects, and corrects nothing', async () => {
    const ports = await setUp()
    const bad = await ports.addDocument()
    const lost = await ports.addDocument()
    ports.objects.documents.delete(lost.objectKey)
    await ports.spoil(DOCUMENTS_TABLE, bad.documentId, 'size_bytes')
    const { findings, notAddedUp } = await runAudit(ports, true)
    const message = `the item of workspace_id ${WORKSPACE}, document_id ${bad.documentId} cannot be read: size_bytes is not a number`
    expect(findings).toHaveLength(3)
    const without = { kind: 'document_without_object', documentId: lost.documentId, isRepaired: true }
    for (const each of [{ ...unreadable, message }, without, drift]) {
      expect(findings).toContainEqual(expect.objectContaining(each))
    }
    expect(notAddedUp).toEqual([{ workspaceId: WORKSPACE, reason: 'unreadable' }])
    // Its object is not mistaken for one without a document.
    expect(ports.objects.documents.has(bad.objectKey)).toBe(true)
    expect(ports.stored.ledgerOf(WORKSPACE)).toMatchObject({ usedBytes: 207 })
  })
})

it('the audit of one workspace looks at that one only; findings have ids of their own', async () => {
  const ports = createPorts()
  const other = 'ws_2' as WorkspaceId
  const keys: string[] = []
  for (const workspaceId of [WORKSPACE, other]) {
    const { objectKey } = await ports.addDocument(ports.begin({ workspaceId }))
    ports.objects.documents.delete(objectKey)
    keys.push(objectKey)
  }
  const { report, findings } = await runAudit(ports, false, {}, { workspaceId: other })
  expect(report).toMatchObject({ workspaces: 1, documents: 1 })
  expect(findings.map(({ workspaceId }) => workspaceId)).toEqual([other])
  const all = (await runAudit(ports)).findings
  const ids = keys.map((key, index) => `document_without_object ${[WORKSPACE, other][index]} ${key}`)
  expect(all.map(findingId).toSorted()).toEqual(ids.toSorted())
})
