import { describe, expect, it } from 'vitest'
import { audit } from '../../lib/maintenance/audit.ts'
import type { DocumentMaintenance } from '../../lib/maintenance/document-maintenance.ts'
import { countMore, passBy } from '../support/add-up.ts'
import { endSliceAtOnce, playRoundOf, roundDependencies } from '../support/maintenance/audit-rounds.ts'
import { runAudit } from '../support/maintenance/run-audit.ts'
import { createPorts, type Ports, WORKSPACE } from '../support/ports.ts'

const DRIFT_BYTES = 7

/** Two documents, of 100 bytes each, and a drift. */
async function setUp(): Promise<Ports> {
  const ports = createPorts()
  for (let n = 0; n < 2; n++) await ports.addDocument()
  countMore(ports, DRIFT_BYTES)
  return ports
}

/** Documents of which no listing begins before something was done. @returns also after which row each one began */
function withChanges(ports: Ports, change: () => Promise<unknown>) {
  const begunAfter: (string | undefined)[] = []
  const documents: Ports['documents'] = {
    ...ports.documents,
    async *listRows(...args: Parameters<DocumentMaintenance['listRows']>) {
      await change()
      begunAfter.push(args[2]?.after)
      yield* ports.documents.listRows(...args)
    },
  }
  return { documents, begunAfter }
}

const drift = { workspaceId: WORKSPACE, kind: 'drift', usedBytes: 207, expectedBytes: 200 }

describe('the audit of a workspace that changes meanwhile', () => {
  it('reports a drift, and reads each row once', async () => {
    const ports = await setUp()
    const { documents, begunAfter } = withChanges(ports, () => passBy(ports))
    const { report, findings } = await runAudit(ports, false, { documents })
    expect(findings).toEqual([{ ...drift, isRepaired: false }])
    expect(report).toMatchObject({ workspaces: 1, documents: 2, documentBytes: 200, findings: 1, notAddedUp: 0 })
    expect(begunAfter).toEqual([undefined])
  })

  it('does the same in slices of one step, each from where the one before stopped', async () => {
    const ports = await setUp()
    const { documents, begunAfter } = withChanges(ports, () => passBy(ports))
    const deps = { ...roundDependencies(ports, 1), documents }
    const { report, findings } = await playRoundOf(deps, { isOver: endSliceAtOnce })
    expect(findings).toEqual([{ ...drift, isRepaired: false }])
    expect(report).toMatchObject({ workspaces: 1, documents: 2, documentBytes: 200, findings: 1, notAddedUp: 0 })
    const [first, second] = [...ports.documents.documents.values()].map(({ documentId }) => documentId).toSorted()
    expect(begunAfter).toEqual([undefined, first, second])
  })

  it('tells of a workspace that it could not add up, and counts it', async () => {
    const ports = await setUp()
    const change = async () => {
      const ledger = ports.ledger.workspaces.get(WORKSPACE)
      // As a backup has it.
      if (ledger) ledger.version -= 10
    }
    const { documents } = withChanges(ports, change)
    const { report, findings, notAddedUp } = await runAudit(ports, false, { documents })
    expect(findings).toEqual([])
    expect(notAddedUp).toEqual([{ workspaceId: WORKSPACE, reason: 'ledger_replaced' }])
    expect(report).toMatchObject({ workspaces: 1, notAddedUp: 1 })
    const options = { repair: false, deleteLostDocuments: false, onFinding() {} }
    const untold = await audit(options, { ...ports.deps, documents }, new AbortController().signal)
    expect(untold).toMatchObject({ workspaces: 1, notAddedUp: 1 })
  })
})
