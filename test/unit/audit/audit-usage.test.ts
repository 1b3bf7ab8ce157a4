import { describe, expect, it } from 'vitest'
import { auditSum } from '../../../lib/audit/audit-usage.ts'
import { beginDocument } from '../../../lib/ledger/begin-document.ts'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import { addUp, countMore, cut, listenTo, passBy, readItems } from '../../support/add-up.ts'
import { WORKSPACES_TABLE } from '../../support/dynamodb/memory-tables.ts'
import { createPorts, type Ports, signal, WORKSPACE, withDocument } from '../../support/ports.ts'
import { runAudit } from '../../support/unit/run-audit.ts'

const MOST_MS = 20 * 3_600_000
const DRIFT = 7

/** @returns brings the ledger of now back, as from a backup */
const backUp = ({ stored }: Ports) => {
  const [before] = stored.attributes(WORKSPACES_TABLE)
  return () => stored.change(WORKSPACES_TABLE, (item) => Object.assign(item, before))
}

it('a drift is corrected once, however often it is added up, whatever goes on', async () => {
  const { ports } = await withDocument()
  await countMore(ports, DRIFT)
  const { audit, said } = listenTo(ports, true)
  const sum = await cut(ports)
  await passBy(ports)
  const whole = await readItems(ports, sum)
  for (let times = 0; times < 2; times++) await auditSum(whole, audit)
  expect([said, audit.counters.repaired]).toEqual([[DRIFT, DRIFT], 2])
  expect(await addUp(ports)).toEqual([])
})

it('a document that takes the place of an expired one is added up once when a slice has seen its tombstone, and another sees that beside it', async () => {
  /** Makes it anew, with other bytes, and has that expire, too. */
  const replace = async ({ deps, documents, begin, clock, run }: Ports, { documentId }: WorkspaceDocument) => {
    const next = begin({ documentId, sizeBytes: 30 })
    expect(await beginDocument(next, deps, signal)).toBeUndefined()
    const document = await run(['copy', 'hold', 'record', 'capture'], next, { expiresAt: new Date(clock.nowMs) })
    expect(await documents.find(document, signal)).toMatchObject({ attemptId: next.attemptId })
  }

  const { ports, document } = await withDocument({ expiresAt: new Date(0) })
  const { audit, said } = listenTo(ports)
  const sum = await cut(ports)
  await deleteDocument(document, { ifExpiredByMs: ports.clock.nowMs }, ports.deps, signal)
  const seen: string[] = []
  const whole = await readItems(ports, sum, async ({ state, itemId }) => {
    seen.push(`${state} ${itemId}`)
    if (seen.length > 1) return
    await replace(ports, document)
  })
  const { documentId, attemptId } = document
  expect(seen).toEqual([`gone ${documentId}`, `gone ${documentId}/${attemptId}`])
  await auditSum(whole, audit)
  expect(said).toEqual([])
})

describe('a workspace that does not add up', () => {
  it('does not trust tombstones that are nearly a day old', async () => {
    const { ports } = await withDocument()
    const addUpIn = (passedMs: number) => addUp(ports, () => passBy(ports).then(() => ports.pass(passedMs)))
    expect(await addUpIn(MOST_MS)).toEqual([])
    expect(await addUpIn(MOST_MS + 1)).toEqual(['too_slow'])
  })

  const lose = ({ stored }: Ports) => stored.removeAll(WORKSPACES_TABLE)
  it.each<[string, (ports: Ports) => unknown, (ports: Ports) => Promise<unknown>]>([
    ['came', lose, passBy],
    ['went', () => {}, lose],
  ])('does not compare with a ledger that %s meanwhile', async (_, before, meanwhile) => {
    const { ports } = await withDocument()
    await before(ports)
    expect(await addUp(ports, () => meanwhile(ports))).toEqual(['ledger_replaced'])
  })

  it.each(['document', 'deletion'])('sees by a %s that the ledger was brought back from a backup', async (what) => {
    const { ports, document } = await withDocument()
    const bringBack = backUp(ports)
    await passBy(ports)
    if (what === 'deletion') await ports.deleteDocument(document)
    else await ports.addDocument()
    const meanwhile = async () => {
      await bringBack()
      await passBy(ports)
    }
    expect(await addUp(ports, meanwhile)).toEqual(['ledger_replaced'])
  })

  it('compares with a ledger from a backup when nothing goes on', async () => {
    const { ports } = await withDocument()
    const bringBack = backUp(ports)
    const document = await ports.addDocument()
    await ports.addDocument()
    await ports.deleteDocument(document)
    await bringBack()
    expect(await addUp(ports, undefined, true)).toEqual([-100])
    expect(await addUp(ports)).toEqual([])
  })

  it('says so when items of it cannot be read', async () => {
    const { ports } = await withDocument()
    const { audit, said } = listenTo(ports)
    await auditSum({ ...(await cut(ports)), isUnreadable: true }, audit)
    expect(said).toEqual(['unreadable'])
  })
})

it('a closed workspace is not compared, and that is not reported: its ledger stays for ever', async () => {
  const { ports } = await withDocument()
  await countMore(ports, DRIFT)
  await ports.closeWorkspace()
  const { report, findings, notAddedUp } = await runAudit(ports)
  expect([findings, notAddedUp, report.notAddedUp]).toEqual([[], [], 0])
})

it('bytes of documents without a ledger are a drift', async () => {
  const ports = createPorts()
  await ports.run(['begin', 'record'])
  ports.pass(1000)
  expect(ports.stored.ledgerOf(WORKSPACE)).toBeUndefined()
  expect(await addUp(ports, undefined, true)).toEqual([-100])
  expect(await addUp(ports)).toEqual([])
})

describe('a workspace that is deleted meanwhile', () => {
  const remove = async ({ stored, deleteDocument, deps }: Ports) => {
    for (const document of stored.documents()) await deleteDocument(document)
    await deps.workspaces.remove(WORKSPACE, stored.ledgerOf(WORKSPACE)?.version, signal)
  }

  it('has no drift, if it had no ledger at the cut, and has none at the end', async () => {
    const ports = createPorts()
    const { audit, said } = listenTo(ports, true)
    const begun = await cut(ports)
    await ports.addDocument()
    const sum = await readItems(ports, begun)
    await remove(ports)
    await auditSum(sum, audit)
    expect([said, ports.stored.ledgerOf(WORKSPACE)]).toEqual([['ledger_replaced'], undefined])
  })

  it('and made anew is not corrected: its former ledger had the drift', async () => {
    const { ports } = await withDocument()
    await countMore(ports, DRIFT)
    const { audit, said } = listenTo(ports, true)
    const sum = await readItems(ports, await cut(ports))
    expect(await addUp(ports, undefined, true)).toEqual([DRIFT])
    await remove(ports)
    ports.pass(5000)
    await ports.addDocument()
    await auditSum(sum, audit)
    expect([said, ports.state().used]).toEqual([['ledger_replaced'], 100])
  })
})
