import { describe, expect, it, vi } from 'vitest'
import { MAX_SHARDS } from '../../lib/config.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import {
  type AuditRound,
  type AuditTask,
  performAuditTask,
  type RoundDependencies,
} from '../../lib/maintenance/audit-round.ts'
import {
  endSliceAtOnce,
  planted,
  playRoundOf,
  roundDependencies,
  SHARDS,
  sumOf,
  workspace,
} from '../support/maintenance/audit-rounds.ts'
import { createPorts } from '../support/ports.ts'

/** Step Functions API Reference, TaskFailedEventDetails. */
const MOST_OF_A_CAUSE = 32_768

const named = (name: string, message = name) => Object.assign(new Error(message), { name })

describe('a round of the audit', () => {
  it('finds all there is: in workspaces with a ledger, and in those that only another table or the bucket knows', async () => {
    const { deps, count } = await planted()
    const { report, findings, ids } = await playRoundOf(deps)
    expect(ids).toHaveLength(count)
    expect(findings).toHaveLength(count)
    const expected = [
      'document_without_object ws_00',
      'wrong_size ws_01',
      'object_without_document ws_02',
      'drift ws_03',
      'unlisted_document ws_04',
      'old_upload ws_05',
      'expired_reservation ws_06',
      'object_without_document ws_objects',
      'drift ws_documents',
      'drift ws_reservations',
      'expired_reservation ws_reservations',
      'old_upload ws_uploads',
    ]
    expect(ids.map((id) => id.split(' ').slice(0, 2).join(' '))).toEqual(expected.toSorted())
    expect(report).toMatchObject({ workspaces: 9 + 3, findings: count, shardsIncomplete: 0, documents: 9 * 3 + 4 })
  })

  it('finds the same in slices of one step each', async () => {
    const { deps, published } = await planted()
    const whole = await playRoundOf(deps)
    const told = published.splice(0)
    const sliced = await playRoundOf(deps, { isOver: endSliceAtOnce })
    expect(sliced.tasks.length).toBeGreaterThan(50)
    expect(sliced.findings.length).toBe(whole.findings.length)
    expect(sliced.ids).toEqual(whole.ids)
    expect(sliced.report).toMatchObject({ ...whole.report, durationMs: expect.any(Number) })
    for (const name of ['AuditFindings', 'AuditedWorkspaces', 'AuditedDocuments', 'AuditRoundsCompleted'] as const) {
      expect([name, sumOf(published, name)]).toEqual([name, sumOf(told, name)])
    }
  })

  it('does no harm beside another round', async () => {
    const { deps, ports } = await planted()
    const alone = await playRoundOf(deps, { isOver: endSliceAtOnce })
    const [one, other] = await Promise.all([
      playRoundOf(deps, { isOver: endSliceAtOnce }),
      playRoundOf(deps, { isOver: endSliceAtOnce, roundId: 'round-2' }),
    ])
    expect([one.ids, other.ids]).toEqual([alone.ids, alone.ids])
    const [first, second] = await Promise.all([
      playRoundOf(deps, { isOver: endSliceAtOnce, repair: true }),
      playRoundOf(deps, { isOver: endSliceAtOnce, repair: true, roundId: 'round-2' }),
    ])
    expect(first.report.shardsIncomplete + second.report.shardsIncomplete).toBe(0)
    ports.pass(3 * 3_600_000)
    await playRoundOf(deps, { repair: true })
    const left = await playRoundOf(deps)
    expect(left.findings.map(({ kind }) => kind)).toEqual(['wrong_size'])
  })

  it('tells how old it is, in percent of the time that a round may take', async () => {
    const { deps, published } = await planted()
    const options = { repair: false, deleteLostDocuments: false, isOver: endSliceAtOnce, onFinding() {} }
    const perform = (task: object) => performAuditTask(task as AuditTask, options, deps, new AbortController().signal)
    const startedAt = new Date(deps.now() - deps.roundMs / 4).toISOString()
    const { shards } = (await perform({ task: 'begin', roundId: 'one', startedAt, running: [] })) as AuditRound
    await perform({ task: 'slice', state: shards[0] })
    expect(published).toContainEqual(expect.objectContaining({ AuditRoundAge: 25 }))
  })

  it('is refused while an earlier one runs, so that of two that begin at once one goes on', async () => {
    const { deps } = await planted()
    const begin = async (roundId: string, running: object[]) => {
      const startedAt = '2026-11-21T10:00:00.000Z'
      const task = { task: 'begin', roundId, startedAt, running } as AuditTask
      const options = { repair: false, deleteLostDocuments: false, isOver: endSliceAtOnce, onFinding() {} }
      return performAuditTask(task, options, deps, new AbortController().signal)
    }
    const one = { Name: 'one', StartDate: '2026-11-21T10:00:00.000Z' }
    const twin = { Name: 'twin', StartDate: '2026-11-21T10:00:00Z' }
    const earlier = { Name: 'zero', StartDate: '2026-11-20T10:00:00.000Z' }
    expect(await begin('one', [one, twin])).toMatchObject({ isRefused: false, totalShards: SHARDS })
    expect(await begin('twin', [one, twin])).toMatchObject({ isRefused: true, shards: [] })
    expect(await begin('one', [one, earlier])).toMatchObject({ isRefused: true })
    // Not listed yet.
    expect(await begin('one', [])).toMatchObject({ isRefused: false })
    expect(await begin('one', [earlier])).toMatchObject({ isRefused: true })
  })
})

describe('a workspace whose audit fails for ever', () => {
  /** Whoever reads its reservations dies. */
  function poisoned(deps: RoundDependencies, poison: WorkspaceId, how: (isDead: () => void) => never) {
    let isDead = false
    const { list } = deps.reservations
    const reservations = { ...deps.reservations }
    vi.spyOn(reservations, 'list').mockImplementation((workspaceId, ...rest) => {
      if (workspaceId === poison)
        how(() => {
          isDead = true
        })
      return list(workspaceId, ...rest)
    })
    const deadly = { ...deps, reservations }
    return {
      invoke: async (_task: AuditTask, perform: (deps: typeof deadly) => Promise<unknown>) => {
        isDead = false
        const answer = await perform(deadly)
        if (isDead) throw named('Runtime.ExitError')
        return answer
      },
    }
  }

  it.each<[string, (isDead: () => void) => never]>([
    [
      'throws',
      () => {
        throw named('TypeError', 'x is not a function')
      },
    ],
    [
      'kills its process',
      (isDead) => {
        isDead()
        throw named('Killed')
      },
    ],
  ])('and %s is reported and passed by; all others are audited', async (_, how) => {
    const world = await planted()
    const undisturbed = await playRoundOf(world.deps)
    const poison = workspace(3)
    const { invoke } = poisoned(world.deps, poison, how)
    const { report, findings, ids } = await playRoundOf(world.deps, { invoke })
    const [missed] = undisturbed.ids.filter((id) => id.startsWith(`drift ${poison}`))
    expect(missed).toBeDefined()
    expect(new Set(ids.filter((id) => !id.startsWith('not_audited')))).toEqual(
      new Set(undisturbed.ids.filter((id) => id !== missed)),
    )
    expect(findings.filter(({ kind }) => kind === 'not_audited')).toMatchObject([{ workspaceId: poison }])
    expect(report.shardsIncomplete).toBe(0)
  })

  it('is reached in few slices when it is far off', async () => {
    const ports = createPorts()
    for (let n = 0; n < 300; n++) await ports.ledger.create(workspace(n), 1000, new AbortController().signal)
    const { invoke } = poisoned(roundDependencies(ports, 1), workspace(257), (isDead) => {
      isDead()
      throw named('Killed')
    })
    const { report, findings, tasks } = await playRoundOf(roundDependencies(ports, 1), { invoke })
    expect(findings).toMatchObject([{ kind: 'not_audited', workspaceId: workspace(257) }])
    expect([report.workspaces, report.shardsIncomplete]).toEqual([299, 0])
    expect(tasks.length).toBeLessThan(60)
  })

  it('is not passed by as long as the stores are unavailable for a while', async () => {
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

  it('does not stop the other shards, even when its own is given up', async () => {
    const { deps, published } = await planted()
    const { report, ids } = await playRoundOf(deps, {
      async invoke(task, perform) {
        if ('state' in task && task.state.shard === 1) throw named('Broken')
        return perform(deps)
      },
    })
    expect(report.shardsIncomplete).toBe(1)
    expect(ids.length).toBeGreaterThan(3)
    expect(published).toContainEqual(expect.objectContaining({ AuditRoundsCompleted: 0, AuditShardsIncomplete: 1 }))
  })

  it('does not keep the round from its report, even when the execution of its shard fails', async () => {
    const { deps, published } = await planted()
    const { report } = await playRoundOf(deps, {
      // No state: the next one has nothing to choose by, which no Catch catches.
      invoke: async (task, perform) => ('state' in task && task.state.shard === 1 ? {} : perform(deps)),
    })
    expect(report.shardsIncomplete).toBe(1)
    expect(published).toContainEqual(expect.objectContaining({ AuditRoundsCompleted: 0, AuditShardsIncomplete: 1 }))
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
