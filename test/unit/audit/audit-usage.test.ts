import { describe, expect, it } from 'vitest'
import { auditSum, beginSum } from '../../../lib/audit/audit-usage.ts'
import type { DocumentId } from '../../../lib/ids.ts'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import type { DeletedDocument } from '../../../lib/ledger/ports/document-records.ts'
import { addUp, countMore, listenTo, passBy, readRows } from '../../support/add-up.ts'
import { createPorts, type Ports, WORKSPACE } from '../../support/ports.ts'
import { newDocument } from '../../support/stores/ledger-values.ts'

const { signal } = new AbortController()
const MOST_MS = 20 * 3_600_000
const DRIFT = 7

async function withDocument() {
  const ports = createPorts()
  const { documentId } = await ports.addDocument()
  const [workspace = {}] = ports.ledger.workspaces.values() as Iterable<{ version?: number; remainingBytes?: number }>
  return { ports, documentId, workspace }
}

it('a drift is corrected once, however often it is added up, whatever goes on', async () => {
  const { ports } = await withDocument()
  countMore(ports, DRIFT)
  const { audit, said } = listenTo(ports, true)
  const sum = await beginSum(audit)
  await passBy(ports)
  const whole = await readRows(ports, sum)
  for (let times = 0; times < 2; times++) await auditSum(whole, audit)
  expect([said, audit.counters.repaired]).toEqual([[DRIFT, DRIFT], 2])
  expect(await addUp(ports)).toEqual([])
})

describe('a document that takes the place of an expired one', () => {
  const replace = async ({ deps, documents, begin, run }: Ports, documentId: DocumentId) => {
    await deleteDocument({ workspaceId: WORKSPACE, documentId }, deps, signal)
    const deleted = (await documents.findEvenDeleted(WORKSPACE, documentId, signal)) as DeletedDocument
    const next = await run(['take', 'reserve', 'unmark', 'copy'], begin({ documentId, sizeBytes: 30 }))
    expect(await documents.record(newDocument(next), signal, deleted)).toBe('recorded')
    await run(['settle'], next)
  }

  it.each([
    ['once', 1, []],
    ['twice, so that nobody knows what was there at the cut', 2, ['too_slow']],
  ])('is added up, with what it replaced since the cut: %s', async (_, times, expected) => {
    const { ports, documentId } = await withDocument()
    const meanwhile = async () => {
      for (let time = 0; time < times; time++) await replace(ports, documentId)
    }
    expect(await addUp(ports, meanwhile)).toEqual(expected)
    // When nothing goes on, it does not matter, also not after a restore.
    for (const workspace of ports.ledger.workspaces.values()) workspace.version = 0
    countMore(ports, DRIFT)
    expect(await addUp(ports)).toEqual([DRIFT])
  })
})

describe('a workspace that does not add up', () => {
  it('carries the reason from the cut to the end', async () => {
    const ports = createPorts()
    for (let n = 0; n <= 10_000; n++) await ports.reservations.reserve(ports.begin({ sizeBytes: 0 }), false, signal)
    expect(await addUp(ports)).toEqual(['too_many_under_way'])
  })

  it('does not trust tombstones that are nearly a day old', async () => {
    const { ports } = await withDocument()
    const addUpIn = (passedMs: number) => addUp(ports, () => passBy(ports).then(() => ports.pass(passedMs)))
    expect(await addUpIn(MOST_MS)).toEqual([])
    expect(await addUpIn(MOST_MS + 1)).toEqual(['too_slow'])
  })

  it.each<[string, (ports: Ports) => void, (ports: Ports) => unknown]>([
    ['came', ({ ledger }) => void ledger.workspaces.delete(WORKSPACE), passBy],
    ['went', () => {}, ({ ledger }) => void ledger.workspaces.delete(WORKSPACE)],
  ])('does not compare with a ledger that %s meanwhile', async (_, before, meanwhile) => {
    const { ports } = await withDocument()
    before(ports)
    expect(await addUp(ports, async () => meanwhile(ports))).toEqual(['ledger_replaced'])
  })

  it.each(['document', 'deletion'])('sees by a %s that the ledger was brought back from a backup', async (what) => {
    const { ports, documentId, workspace } = await withDocument()
    const { version, remainingBytes } = workspace
    if (what === 'deletion') await deleteDocument({ workspaceId: WORKSPACE, documentId }, ports.deps, signal)
    else await ports.addDocument()
    expect(await addUp(ports, async () => Object.assign(workspace, { version, remainingBytes }))).toEqual([
      'ledger_replaced',
    ])
  })

  it('compares with a ledger from a backup when nothing goes on', async () => {
    const { ports, workspace } = await withDocument()
    const { documentId } = await ports.addDocument()
    await ports.addDocument()
    await deleteDocument({ workspaceId: WORKSPACE, documentId }, ports.deps, signal)
    Object.assign(workspace, { version: 1, remainingBytes: 900 })
    expect(await addUp(ports, undefined, true)).toEqual([-100])
    expect(await addUp(ports)).toEqual([])
  })
})
