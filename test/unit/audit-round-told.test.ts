import { describe, expect, it, vi } from 'vitest'
import { type AuditRound, type AuditTask, performAuditTask } from '../../lib/maintenance/audit-round.ts'
import type { AuditShard } from '../../lib/maintenance/audit-shard.ts'
import { FINDING_KINDS, type Finding, NOTHING_AUDITED } from '../../lib/maintenance/findings.ts'
import { UnreadableItemError } from '../../lib/unreadable-item.ts'
import { countMore } from '../support/add-up.ts'
import { type Published, roundDependencies, workspace } from '../support/maintenance/audit-rounds.ts'
import { createPorts } from '../support/ports.ts'

const { signal } = new AbortController()
const SPENT_EACH = 5

/** Four workspaces with a document of 10 bytes each, the first two with a drift; a shard that has begun. */
async function setUp() {
  const published: Published[] = []
  const findings: Finding[] = []
  const ports = createPorts()
  for (let n = 0; n < 4; n++) await ports.addDocument(ports.begin({ workspaceId: workspace(n), sizeBytes: 10 }))
  for (const n of [0, 1]) countMore(ports, 7, workspace(n))
  let spent = 0
  const spentUnits = () => {
    spent += SPENT_EACH
    return spent
  }
  const deps = { ...roundDependencies(ports, 1, published), spentUnits }
  const onFinding = (finding: Finding) => void findings.push(finding)
  const options = { repair: false, deleteLostDocuments: false, isOver: () => false, onFinding }
  const perform = async (task: object) => {
    published.length = 0
    ports.logged.length = 0
    return performAuditTask(task as AuditTask, options, deps, signal)
  }
  const startedAt = new Date(deps.now()).toISOString()
  const { shards } = (await perform({ task: 'begin', roundId: 'one', startedAt, running: [] })) as AuditRound
  return { ports, published, findings, perform, startedAt, shard: shards[0] as AuditShard }
}

const slice = (change: object) => ({
  AuditedWorkspaces: 0,
  AuditedDocuments: 0,
  AuditReads: SPENT_EACH,
  WorkspacesNotAddedUp: 0,
  ItemsUnreadable: 0,
  AuditProgress: 0,
  AuditRoundAge: 0,
  ...change,
})

describe('what a round of the audit tells', () => {
  it('logs that it began, or why it did not', async () => {
    const { ports, perform, startedAt } = await setUp()
    expect(ports.logged).toEqual([
      { level: 'info', message: 'round of the audit begun', round_id: 'one', shards: 1, workspaces: 4 },
    ])
    const running = [{ Name: 'zero', StartDate: '2020-01-01T00:00:00Z' }]
    await perform({ task: 'begin', roundId: 'one', startedAt, running })
    expect(ports.logged).toEqual([
      {
        level: 'warn',
        message: 'audit round refused: an earlier one is still running',
        round_id: 'one',
        running: 'zero',
      },
    ])
  })

  it('goes by the time at which the engine says that it began itself', async () => {
    const { perform, startedAt } = await setUp()
    const later = new Date(Date.parse(startedAt) + 1000).toISOString()
    const running = [
      { Name: 'one', StartDate: startedAt },
      { Name: 'two', StartDate: new Date(Date.parse(startedAt) + 500).toISOString() },
    ]
    expect(await perform({ task: 'begin', roundId: 'one', startedAt: later, running })).toMatchObject({
      isRefused: false,
    })
  })

  it('publishes what each slice did, by itself, and how far the shard has come', async () => {
    const { ports, published, perform, shard } = await setUp()
    const one = { AuditedWorkspaces: 1, AuditedDocuments: 1 }
    const drift = { AuditFindings: 1, kind: 'drift' }
    let state = (await perform({ task: 'step', state: shard })) as AuditShard
    expect(published).toEqual([drift, slice({ ...one, AuditProgress: 25 })])
    expect(ports.logged).toEqual([
      {
        level: 'info',
        message: 'slice of the audit done',
        round_id: 'one',
        shard: 0,
        phase: 'ledgers',
        ...NOTHING_AUDITED,
        workspaces: 1,
        documents: 1,
        documentBytes: 10,
        findings: 1,
      },
    ])
    state = (await perform({ task: 'step', state })) as AuditShard
    expect(published).toEqual([drift, slice({ ...one, AuditProgress: 50 })])
    state = (await perform({ task: 'step', state: { ...state, expectedWorkspaces: 2 } })) as AuditShard
    expect(published).toEqual([slice({ ...one, AuditProgress: 99 })])
    await perform({ task: 'slice', state: { ...state, maxWorkspaces: undefined } })
    expect(published).toEqual([slice({ ...one, AuditProgress: 100 })])
  })

  it('counts the findings of a slice by kind', async () => {
    const { published, perform, shard } = await setUp()
    await perform({ task: 'slice', state: shard })
    expect(published[0]).toEqual({ AuditFindings: 2, kind: 'drift' })
  })

  it('tells progress by what a shard has to do, and at most 99 percent before its end', async () => {
    const { published, perform, shard } = await setUp()
    const halves = { totalShards: 2, expectedWorkspaces: 40, counters: { ...NOTHING_AUDITED, workspaces: 4 } }
    const { counters } = (await perform({ task: 'step', state: { ...shard, ...halves } })) as AuditShard
    expect(published.at(-1)?.AuditProgress).toBe((100 * counters.workspaces) / 20)
    await perform({ task: 'step', state: { ...shard, phase: 'documents' } })
    expect(published.at(-1)?.AuditProgress).toBe(99)
  })

  it('publishes what it could not read, and not add up', async () => {
    const { ports, published, perform, shard } = await setUp()
    const { list } = ports.reservations
    vi.spyOn(ports.reservations, 'list').mockImplementation(async function* (workspaceId, ...rest) {
      if (workspaceId === workspace(0)) throw new UnreadableItemError('a number beyond 2^53')
      yield* list(workspaceId, ...rest)
    })
    const state = (await perform({ task: 'step', state: shard })) as AuditShard
    expect(published).toEqual([
      { AuditFindings: 1, kind: 'unreadable_item' },
      slice({ AuditedWorkspaces: 1, ItemsUnreadable: 1, AuditProgress: 25 }),
    ])
    const listRows = ports.documents.listRows
    vi.spyOn(ports.documents, 'listRows').mockImplementation(async function* (workspaceId, each, options) {
      options?.onUnreadable?.(new UnreadableItemError('a number beyond 2^53'))
      yield* listRows(workspaceId, each, options)
    })
    const counters = { ...state.counters, notAddedUp: 3 }
    await perform({ task: 'step', state: { ...state, counters } })
    expect(published.at(-1)).toMatchObject({ WorkspacesNotAddedUp: 1, ItemsUnreadable: 1 })
  })

  it('says why it passed a workspace by', async () => {
    const { findings, perform, shard } = await setUp()
    const error = { Error: 'Sandbox.Timedout', Cause: 'killed' }
    await perform({ task: 'pass_by', state: { ...shard, error } })
    expect(findings).toMatchObject([
      { kind: 'not_audited', workspaceId: workspace(0), message: 'Sandbox.Timedout: killed' },
    ])
  })

  it.each([
    [true, 1, 0],
    [false, 0, 1],
  ])('ends with a report and a zero for every kind; complete: %s', async (isComplete, completed, incomplete) => {
    const { ports, published, perform, shard } = await setUp()
    const counters = { ...NOTHING_AUDITED, workspaces: 3, repaired: 1 }
    const startedAtMs = ports.clock.nowMs - 5000
    const round = { ...shard, startedAtMs, isRefused: false, shards: [{ counters, isComplete }] }
    const report = await perform({ task: 'end', round })
    const expected = { roundId: 'one', durationMs: 5000, shardsIncomplete: incomplete, ...counters }
    expect(report).toEqual(expected)
    expect(ports.logged).toEqual([{ level: 'info', message: 'round of the audit ended', ...expected }])
    expect(published).toEqual([
      ...FINDING_KINDS.map((kind) => ({ AuditFindings: 0, kind })),
      { AuditRoundsCompleted: completed, AuditShardsIncomplete: incomplete, AuditRoundTime: 5000 },
    ])
  })

  it('ends with a report although the engine has no output of a shard, only why its execution failed', async () => {
    const { published, perform, shard } = await setUp()
    const counters = { ...NOTHING_AUDITED, workspaces: 3 }
    const failed = {
      Status: 'FAILED',
      Name: 'x',
      Input: '{}',
      Error: 'States.Timeout',
      StopDate: '2026-11-21T10:00:00Z',
    }
    const round = { ...shard, totalShards: 2, shards: [{ counters, isComplete: true }, failed] }
    expect(await perform({ task: 'end', round })).toMatchObject({ ...counters, shardsIncomplete: 1 })
    expect(published.at(-1)).toMatchObject({ AuditRoundsCompleted: 0, AuditShardsIncomplete: 1 })
  })

  it('is begun by its state machine only', async () => {
    const { perform } = await setUp()
    await expect(perform({ task: 'nonsense' })).rejects.toThrow('The audit knows no task {"task":"nonsense"}')
  })
})
