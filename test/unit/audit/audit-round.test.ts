import { describe, expect, it } from 'vitest'
import type { AuditTask, RoundDependencies } from '../../../lib/audit/audit-round.ts'
import { MAX_SHARDS } from '../../../lib/config.ts'
import { createPorts, signal } from '../../support/ports.ts'
import { planted, playRoundOf, roundDependencies, sumOf, workspace } from '../../support/unit/audit-rounds.ts'

/** Step Functions API Reference, TaskFailedEventDetails. */
const MOST_OF_A_CAUSE = 32_768

const named = (name: string, message = name) => Object.assign(new Error(message), { name })

describe('a round of the audit', () => {
  it('finds all there is: in workspaces with a ledger, and in those that only another table or the bucket knows', async () => {
    const { deps, count } = await planted()
    const { report, findings, ids } = await playRoundOf(deps)
    const expected = [
      'document_without_object ws_00',
      'wrong_size ws_01',
      'object_without_document ws_02',
      'drift ws_03',
      'old_leftover ws_04',
      'object_without_document ws_objects',
      'drift ws_documents',
      'old_leftover ws_pending',
    ]
    expect(ids.map((id) => id.split(' ').slice(0, 2).join(' '))).toEqual(expected.toSorted())
    expect(findings).toHaveLength(count)
    expect(report).toMatchObject({ workspaces: 8 + 3, findings: count, shardsIncomplete: 0, documents: 8 * 3 + 3 })
  })

  it('finds the same in slices of one step each', async () => {
    const { deps, published } = await planted()
    const whole = await playRoundOf(deps)
    const told = published.splice(0)
    const sliced = await playRoundOf(deps, { isTimeUp: () => true })
    expect(sliced.tasks.length).toBeGreaterThan(50)
    expect([sliced.findings.length, sliced.ids]).toEqual([whole.findings.length, whole.ids])
    expect(sliced.report).toMatchObject({ ...whole.report, durationMs: expect.any(Number) })
    for (const name of ['AuditFindings', 'AuditRoundsCompleted'] as const) {
      expect([name, sumOf(published, name)]).toEqual([name, sumOf(told, name)])
    }
  })
})

describe('a workspace whose audit fails for ever', () => {
  /** A reader of the workspace's items fails, or dies. */
  function poisoned(deps: RoundDependencies, poison: number, kills: boolean) {
    return async (_task: AuditTask, perform: (deps: RoundDependencies) => Promise<unknown>) => {
      let mayBeReplaced = false
      const list: RoundDependencies['documents']['list'] = (workspaceId, ...rest) => {
        if (workspaceId !== workspace(poison)) return deps.documents.list(workspaceId, ...rest)
        mayBeReplaced = kills
        throw named('TypeError', 'x is not a function')
      }
      const answer = await perform({ ...deps, documents: { ...deps.documents, list } })
      if (mayBeReplaced) throw named('Runtime.ExitError')
      return answer
    }
  }

  it.each([
    ['fails', false],
    ['kills its process', true],
  ])('and %s is reported and skipped; all others are audited', async (_, kills) => {
    const { deps } = await planted()
    const undisturbed = await playRoundOf(deps)
    const { report, findings, ids } = await playRoundOf(deps, { invoke: poisoned(deps, 3, kills) })
    const others = undisturbed.ids.filter((id) => !id.startsWith(`drift ${workspace(3)}`))
    expect(others).toHaveLength(undisturbed.ids.length - 1)
    expect(ids.filter((id) => !id.startsWith('not_audited'))).toEqual(others)
    expect(findings.filter(({ kind }) => kind === 'not_audited')).toMatchObject([{ workspaceId: workspace(3) }])
    expect(report.shardsIncomplete).toBe(0)
  })

  it('is reached in few slices when it is far off', async () => {
    const ports = createPorts()
    for (let n = 0; n < 150; n++) await ports.deps.workspaces.create(workspace(n), { quotaBytes: 1000 }, signal)
    const deps = roundDependencies(ports, 1)
    const { report, findings, tasks } = await playRoundOf(deps, { invoke: poisoned(deps, 129, true) })
    expect(findings).toMatchObject([{ kind: 'not_audited', workspaceId: workspace(129) }])
    expect([report.workspaces, report.shardsIncomplete]).toEqual([149, 0])
    expect(tasks.length).toBeLessThan(50)
  })

  it('is not skipped as long as the stores are unavailable for a while', async () => {
    const { deps } = await planted()
    let outages = 20
    const { findings, report } = await playRoundOf(deps, {
      async invoke({ task }, perform) {
        if (task === 'slice' && outages-- > 0) throw named('StoresUnavailable')
        return perform(deps)
      },
    })
    expect(findings.filter(({ kind }) => kind === 'not_audited')).toEqual([])
    expect(report.shardsIncomplete).toBe(0)
  })

  // A shard whose execution is lost: test/unit/audit/audit-tasks.test.ts.
  it('does not stop the other shards, even when its own is given up', async () => {
    const { deps, published } = await planted()
    const broken = () => Promise.reject(named('Broken'))
    const { report, ids } = await playRoundOf(deps, {
      invoke: async (task, perform) => ('state' in task && task.state.shard === 1 ? broken() : perform(deps)),
    })
    expect(report.shardsIncomplete).toBe(1)
    expect(ids.length).toBeGreaterThan(3)
    expect(published).toContainEqual(expect.objectContaining({ AuditRoundsCompleted: 0 }))
  })

  it('leaves room for what all shards answer, when the most there can be are given up for the longest reasons', async () => {
    const { ports } = await planted()
    const deps = roundDependencies(ports, MAX_SHARDS)
    const { report } = await playRoundOf(deps, {
      async invoke(task, perform) {
        if ('state' in task) throw named('Broken', 'x'.repeat(MOST_OF_A_CAUSE))
        return perform(deps)
      },
    })
    expect(report.shardsIncomplete).toBe(MAX_SHARDS)
  })
})
