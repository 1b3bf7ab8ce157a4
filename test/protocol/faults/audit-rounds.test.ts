import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AuditTask, performAuditTask, type RoundDependencies } from '../../../lib/audit/audit-round.ts'
import { type Finding, findingId } from '../../../lib/audit/findings.ts'
import type { ProcessFault } from '../../support/protocol/breakable-transport.ts'
import { faultsFor } from '../../support/protocol/fault-kinds.ts'
import { startTestProcess, type TestProcess } from '../../support/protocol/test-process.ts'
import { createTestStores } from '../../support/protocol/test-stores.ts'
import { playRound, readAuditDefinition } from '../../support/state-machine/play-round.ts'

const WORKSPACES = 2
/** Faults that end a slice. Those after which a call is simply sent again are in the fault matrix. */
const KINDS = new Set(['500', 'killed before'])

let process: TestProcess
beforeAll(async () => {
  process = await startTestProcess(await createTestStores())
  for (let n = 0; n < WORKSPACES; n++) {
    const workspace = await process.newWorkspace(10 ** 9)
    await process.putFile(workspace, 'a.txt', Buffer.from('small'))
    expect((await process.promote(workspace, 'a.txt')).status).toBe(200)
    await process.putDocumentObject(workspace, Buffer.from('belongs to no document'))
  }
})
afterAll(() => process.stop())

/** Ends each slice after its first step. */
const isTimeUp = () => true

/** A round by the deployed definition, on the real adapters. @param fault of its call of this number */
async function round(at: number, fault?: ProcessFault) {
  let calls = 0
  process.restart({ onTheWire: false })
  const decide = () => {
    process.breakCalls(() => (calls++ === at ? fault : undefined))
  }
  decide()
  const found = new Set<string>()
  const onFinding = (finding: Finding) => void found.add(findingId(finding))
  const options = { repair: false, deleteLostDocuments: false, isTimeUp, onFinding }
  const perform = (task: AuditTask, signal: AbortSignal) => {
    const deps: RoundDependencies = {
      ...process.deps,
      totalShards: 2,
      roundMs: 86_400_000,
      countWorkspaces: async () => WORKSPACES,
      spentUnits: () => 0,
    }
    return performAuditTask(task, options, deps, signal)
  }
  const report = await playRound({
    definition: readAuditDefinition(),
    roundId: 'round-1',
    longestPauseMs: 0,
    signal: AbortSignal.timeout(60_000),
    async invoke(task, signal) {
      const died = process.died().then(() => {
        throw Object.assign(new Error('killed'), { name: 'Runtime.ExitError' })
      })
      try {
        return await Promise.race([perform(task, signal), died])
      } catch (error) {
        if (process.mayBeReplaced()) {
          process.restart({ onTheWire: false })
          decide()
        }
        throw error
      }
    },
  })
  return { report, found: [...found].toSorted(), calls }
}

describe('a round of the audit on the real adapters', () => {
  it('finds the same whatever happens to any one of its calls', { timeout: 300_000 }, async () => {
    const whole = await round(-1)
    expect(whole.found).toHaveLength(WORKSPACES)
    const names = process.takeCallNames()
    expect(new Set(names)).toEqual(
      new Set([
        ...['ledger.list', 'ledger.read', 'documents.list', 'documents.find', 'documents.findStray', 'HeadObject'],
        ...['documents.listWorkspaces', 'ListObjectsV2', 'ListMultipartUploads'],
      ]),
    )
    let rounds = 0
    for (const [at, name] of names.entries()) {
      for (const [kind, fault] of faultsFor(name)) {
        if (!KINDS.has(kind)) continue
        const { found, report } = await round(at, fault)
        expect([name, kind, found]).toEqual([name, kind, whole.found])
        expect([name, kind, report]).toMatchObject([name, kind, { shardsIncomplete: 0, workspaces: WORKSPACES }])
        rounds++
      }
    }
    expect(rounds).toBe(KINDS.size * names.length)
  })
})
