import { describe, expect, it } from 'vitest'
import { type AuditRound, type AuditTask, performAuditTask } from '../../../lib/audit/audit-round.ts'
import type { AuditShard } from '../../../lib/audit/audit-shard.ts'
import { FINDING_KINDS, type Finding, findingId, NOTHING_AUDITED } from '../../../lib/audit/findings.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { countMore } from '../../support/add-up.ts'
import { DOCUMENTS_TABLE, WORKSPACES_TABLE } from '../../support/dynamodb/memory-tables.ts'
import { createPorts, signal } from '../../support/ports.ts'
import { type Published, roundDependencies, workspace, workspacesOf } from '../../support/unit/audit-rounds.ts'

const SPENT_EACH = 5
const STARTED_AT = '2026-11-21T10:00:00.000Z'

/** Four workspaces with a document of 10 bytes each, the first two with a drift; a shard that has begun. */
async function setUp() {
  const published: Published[] = []
  const findings: Finding[] = []
  const ports = createPorts()
  for (let n = 0; n < 4; n++) await ports.addDocument(ports.begin({ workspaceId: workspace(n), sizeBytes: 10 }))
  const [first, second] = (await workspacesOf(ports)) as [WorkspaceId, WorkspaceId]
  for (const workspaceId of [first, second]) await countMore(ports, 7, workspaceId)
  ports.clock.nowMs = Date.parse(STARTED_AT)
  let spent = 0
  const deps = { ...roundDependencies(ports, 1, published), spentUnits: () => (spent += SPENT_EACH) }
  const onFinding = (finding: Finding) => void findings.push(finding)
  const options = { repair: false, deleteLostDocuments: false, isTimeUp: () => false, onFinding }
  const perform = async (task: object) => {
    published.length = 0
    ports.logged.length = 0
    return performAuditTask(task as AuditTask, options, deps, signal)
  }
  const begin = (roundId: string, running: object[] = []) =>
    perform({ task: 'begin', roundId, startedAt: STARTED_AT, running }) as Promise<AuditRound>
  const sliceOfOne = (state: object) => perform({ task: 'slice', maxWorkspaces: 1, state }) as Promise<AuditShard>
  const { shards } = await begin('one')
  return { ports, first, second, published, findings, deps, begin, perform, sliceOfOne, shard: shards[0] as AuditShard }
}

const slice = (change: object) => ({ AuditReads: SPENT_EACH, AuditRoundAge: 0, ...change })

it('the beginning of a round is refused while an earlier one runs, so that of two that begin at once one goes on; both say so', async () => {
  const { ports, begin } = await setUp()
  const message = 'round of the audit begun'
  expect(ports.logged).toEqual([{ level: 'info', message, round_id: 'one', shards: 1 }])
  const one = { Name: 'one', StartDate: STARTED_AT }
  const twin = { Name: 'twin', StartDate: '2026-11-21T10:00:00Z' }
  const earlier = { Name: 'zero', StartDate: '2026-11-20T10:00:00.000Z' }
  const isRefused = async (...args: Parameters<typeof begin>) => (await begin(...args)).isRefused
  expect(await isRefused('one', [one, twin])).toBe(false)
  expect(await begin('twin', [one, twin])).toMatchObject({ isRefused: true, shards: [] })
  const refused = 'audit round refused: an earlier one is still running'
  expect(ports.logged).toEqual([{ level: 'warn', message: refused, round_id: 'twin', running: 'one' }])
  expect(await isRefused('one', [one, earlier])).toBe(true)
  // Not listed yet.
  expect(await isRefused('one')).toBe(false)
  expect(await isRefused('one', [earlier])).toBe(true)
  // The time at which the engine says that it began itself.
  const later = { Name: 'one', StartDate: '2026-11-21T10:00:02Z' }
  expect(await isRefused('one', [later, { Name: 'two', StartDate: '2026-11-21T10:00:01Z' }])).toBe(true)
})

describe('a slice', () => {
  it('publishes and logs what it did, by itself', async () => {
    const { ports, published, deps, perform, sliceOfOne, shard } = await setUp()
    const drift = { AuditFindings: 1, kind: 'drift' }
    ports.pass(deps.roundMs / 4)
    await sliceOfOne(shard)
    expect(published).toEqual([drift, slice({ AuditRoundAge: 25 })])
    const counters = { ...NOTHING_AUDITED, workspaces: 1, documents: 1, documentBytes: 10, findings: 1 }
    const line = { round_id: 'one', shard: 0, phase: 'ledgers', ...counters }
    expect(ports.logged).toEqual([{ level: 'info', message: 'slice of the audit done', ...line }])
    await perform({ task: 'slice', state: shard })
    expect(published[0]).toEqual({ AuditFindings: 2, kind: 'drift' })
  })

  it('publishes what it could not read, and not add up', async () => {
    const { ports, first, second, published, sliceOfOne, shard } = await setUp()
    const document = ports.stored.documents().find(({ workspaceId }) => workspaceId === second)
    await ports.spoil(WORKSPACES_TABLE, first, 'version')
    await ports.spoil(DOCUMENTS_TABLE, document?.documentId, 'size_bytes')
    const state = await sliceOfOne(shard)
    const finding = { AuditFindings: 1, kind: 'unreadable_item' }
    expect(published).toEqual([finding, slice({})])
    await sliceOfOne({ ...state, counters: { ...state.counters, notAddedUp: 3 } })
    expect(ports.logged.at(-1)).toMatchObject({ notAddedUp: 4 })
  })

  it('says why it skipped a workspace', async () => {
    const { findings, first, perform, shard } = await setUp()
    await perform({ task: 'skip', state: { ...shard, error: { Error: 'Sandbox.Timedout', Cause: 'killed' } } })
    const finding = { kind: 'not_audited', workspaceId: first, message: 'Sandbox.Timedout: killed' }
    expect(findings).toMatchObject([finding])
    expect(findings.map(findingId)).toEqual([`not_audited ${first} Sandbox.Timedout: killed`])
  })

  it('is asked for by its state machine only', async () => {
    const { perform } = await setUp()
    await expect(perform({ task: 'nonsense' })).rejects.toThrow('The audit knows no task {"task":"nonsense"}')
  })
})

const counters = { ...NOTHING_AUDITED, workspaces: 3, repaired: 1 }
// As the engine leaves a shard whose execution failed.
const failed = { Status: 'FAILED', Name: 'x', Input: '{}', Error: 'States.Timeout', StopDate: STARTED_AT }

it.each([
  ['complete', { counters, isComplete: true }, 1, 0],
  ['given up', { counters, isComplete: false }, 0, 1],
  ['lost', failed, 0, 1],
])(
  'the end of a round reports one shard beside one that is %s, with a zero for every kind',
  async (_, shard, completed, incomplete) => {
    const { ports, published, perform } = await setUp()
    const shards = [{ counters, isComplete: true }, shard]
    const startedAtMs = ports.clock.nowMs - 5000
    const report = await perform({ task: 'end', round: { roundId: 'one', startedAtMs, totalShards: 2, shards } })
    const [workspaces, repaired] = 'counters' in shard ? [6, 2] : [3, 1]
    const sum = { ...counters, workspaces, repaired }
    const expected = { roundId: 'one', durationMs: 5000, shardsIncomplete: incomplete, ...sum }
    expect(report).toEqual(expected)
    expect(ports.logged).toEqual([{ level: 'info', message: 'round of the audit ended', ...expected }])
    const zeros = FINDING_KINDS.map((kind) => ({ AuditFindings: 0, kind }))
    expect(published).toEqual([...zeros, { AuditRoundsCompleted: completed }])
  },
)
