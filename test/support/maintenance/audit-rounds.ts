import { playRound, readAuditDefinition } from '../../../infra/audit/round.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import {
  type AuditTask,
  performAuditTask,
  type RoundDependencies,
  type RoundReport,
  type TaskOptions,
} from '../../../lib/maintenance/audit-round.ts'
import { type Finding, findingId } from '../../../lib/maintenance/findings.ts'
import type { MetricDetail, MetricValues } from '../../../lib/metrics.ts'
import { createPorts, type Ports } from '../ports.ts'

const { signal } = new AbortController()
const DEFINITION = readAuditDefinition()
const HOUR_MS = 3_600_000

export const workspace = (n: number) => `ws_${String(n).padStart(2, '0')}` as WorkspaceId

export type Published = MetricValues & Partial<MetricDetail>

export const sumOf = (published: Published[], name: keyof Published): number =>
  published.reduce((total, values) => total + Number(values[name] ?? 0), 0)

/** For `isOver`: ends each slice after its first step. */
export const endSliceAtOnce = () => true

export const SHARDS = 3

/** What a round of {@link SHARDS} needs, in a world where there is something to find. @returns with how much it is */
export async function planted(workspaces = 9, documentsEach = 3) {
  const ports = createPorts()
  const count = await plantFindings(ports, workspaces, documentsEach)
  const published: Published[] = []
  return { ports, count, published, deps: roundDependencies(ports, SHARDS, published) }
}

/** What rounds need beyond the ports; what is published goes to the list. */
export function roundDependencies({ deps, ledger }: Ports, totalShards: number, published: Published[] = []) {
  return {
    ...deps,
    metrics: { publish: (values, detail) => void published.push({ ...values, ...detail }) },
    totalShards,
    roundMs: 24 * HOUR_MS,
    countWorkspaces: async () => ledger.workspaces.size,
    spentUnits: () => 0,
  } satisfies RoundDependencies
}

export interface PlayedRound {
  report: RoundReport
  findings: Finding[]
  /** Each once, in order. */
  ids: string[]
  tasks: AuditTask[]
}

/**
 * Plays a round by the definition that is deployed, one task after the other. Pauses of the engine take no time.
 * @param options.invoke around each task: may fail before, or in place of its answer
 */
export async function playRoundOf(
  deps: RoundDependencies,
  {
    isOver = () => false,
    repair = false,
    invoke = (_task, perform) => perform(deps),
    roundId = 'round-1',
  }: {
    isOver?: TaskOptions['isOver']
    repair?: boolean
    invoke?(task: AuditTask, perform: (deps: RoundDependencies) => Promise<unknown>): Promise<unknown>
    roundId?: string
  } = {},
): Promise<PlayedRound> {
  const findings: Finding[] = []
  const tasks: AuditTask[] = []
  const options: TaskOptions = {
    repair,
    deleteLostDocuments: repair,
    isOver,
    onFinding: (finding) => void findings.push(finding),
  }
  let before: Promise<unknown> = Promise.resolve()
  const report = await playRound({
    definition: DEFINITION,
    roundId,
    signal,
    longestPauseMs: 0,
    invoke: (task) => {
      const answer = before.then(() => {
        tasks.push(task)
        return invoke(task, (changed) => performAuditTask(task, options, changed, signal))
      })
      before = answer.catch(() => {})
      return answer
    },
  })
  const ids = [...new Set(findings.map(findingId))].toSorted()
  return { report: report as RoundReport, findings, ids, tasks }
}

/** Workspaces with some documents each, and one of every finding that there is, each in a workspace of its own. */
export async function plantFindings(ports: Ports, workspaces: number, documentsEach: number): Promise<number> {
  const sizeBytes = 10
  for (let n = 0; n < workspaces; n++) {
    for (let i = 0; i < documentsEach; i++)
      await ports.addDocument(ports.begin({ workspaceId: workspace(n), sizeBytes }))
  }
  const add = (n: number) => ports.addDocument(ports.begin({ workspaceId: workspace(n), sizeBytes }))
  const lost = await add(0)
  ports.objects.documents.delete(lost.objectKey)
  ports.putObject({ ...(await add(1)), sizeBytes: 11 })
  await ports.run(['copy'], ports.begin({ workspaceId: workspace(2), sizeBytes }))
  const { usedBytes = 0, version = 0 } = (await ports.ledger.read(workspace(3), signal)) ?? {}
  const drift = { usedBytes, expectedBytes: 7, at: { version, lastVersion: version } }
  await ports.ledger.correct(workspace(3), drift, signal)
  const unlisted = await add(4)
  ports.documents.unlisted.add(`${unlisted.workspaceId}/${unlisted.documentId}`)
  const { objectKey } = ports.begin({ workspaceId: workspace(5) })
  ports.objects.uploads.push({ objectKey, startedAtMs: ports.clock.nowMs - 2 * HOUR_MS })
  await ports.run(
    ['take', 'open', 'unmark'],
    ports.begin({ workspaceId: workspace(6), sizeBytes, leaseExpiresAtMs: 1 }),
  )
  // Known to one table only, or to none.
  await ports.run(['copy'], ports.begin({ workspaceId: 'ws_objects' as WorkspaceId, sizeBytes }))
  await ports.run(['copy', 'record'], ports.begin({ workspaceId: 'ws_documents' as WorkspaceId, sizeBytes }))
  await ports.run(
    ['open'],
    ports.begin({ workspaceId: 'ws_reservations' as WorkspaceId, sizeBytes, leaseExpiresAtMs: 1 }),
  )
  const upload = ports.begin({ workspaceId: 'ws_uploads' as WorkspaceId })
  ports.objects.uploads.push({ objectKey: upload.objectKey, startedAtMs: ports.clock.nowMs - 2 * HOUR_MS })
  return 7 + 1 + 1 + 2 + 1
}
