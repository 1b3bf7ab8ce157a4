import {
  type AuditTask,
  performAuditTask,
  type RoundDependencies,
  type RoundReport,
} from '../../../lib/audit/audit-round.ts'
import { type Finding, findingId } from '../../../lib/audit/findings.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { MetricDetail, MetricValues } from '../../../lib/metrics.ts'
import { countMore } from '../add-up.ts'
import { playRound, readAuditDefinition } from '../play-round.ts'
import { createPorts, type Ports, signal } from '../ports.ts'

const DEFINITION = readAuditDefinition()
const HOUR_MS = 3_600_000

export const workspace = (n: number) => `ws_${String(n).padStart(2, '0')}` as WorkspaceId

/** In the order of an audit, which is that of a scan. */
export const workspacesOf = ({ deps }: Ports) =>
  Array.fromAsync(deps.workspaces.list(signal, { shard: 0, totalShards: 1 }))

export type Published = MetricValues & Partial<MetricDetail>

export const sumOf = (published: Published[], name: keyof Published): number =>
  published.reduce((total, values) => total + Number(values[name] ?? 0), 0)

const SHARDS = 3

/** Everything for a round of three shards, in a world with something to find. @returns also how much that is */
export async function planted() {
  const ports = createPorts()
  const count = await plantFindings(ports, 8, 3)
  const published: Published[] = []
  return { ports, count, published, deps: roundDependencies(ports, SHARDS, published) }
}

/** Rounds need this besides the ports; what they publish goes into the list. */
export function roundDependencies({ deps }: Ports, totalShards: number, published: Published[] = []) {
  return {
    ...deps,
    metrics: { publish: (values, detail) => void published.push({ ...values, ...detail }) },
    totalShards,
    roundMs: 24 * HOUR_MS,
    spentUnits: () => 0,
  } satisfies RoundDependencies
}

/**
 * Plays a round by the definition that is deployed, one task after the other. Pauses of the engine take no time.
 * @param options.invoke wraps each task: it may fail before the task, or in place of its answer
 * @returns also the ids of its findings, each once, in order
 */
export async function playRoundOf(
  deps: RoundDependencies,
  {
    isTimeUp = () => false,
    invoke = (_task, perform) => perform(deps),
  }: {
    isTimeUp?(): boolean
    invoke?(task: AuditTask, perform: (deps: RoundDependencies) => Promise<unknown>): Promise<unknown>
  } = {},
) {
  const findings: Finding[] = []
  const tasks: AuditTask[] = []
  const onFinding = (finding: Finding) => void findings.push(finding)
  const options = { repair: false, deleteLostDocuments: false, isTimeUp, onFinding }
  let before: Promise<unknown> = Promise.resolve()
  const afterOthers = (task: AuditTask) => {
    const answer = before.then(() => {
      tasks.push(task)
      return invoke(task, (changed) => performAuditTask(task, options, changed, signal))
    })
    before = answer.catch(() => {})
    return answer
  }
  const round = { definition: DEFINITION, roundId: 'round-1', signal, invoke: afterOthers }
  const report = (await playRound(round)) as RoundReport
  return { report, findings, ids: [...new Set(findings.map(findingId))].toSorted(), tasks }
}

/** Workspaces with some documents each, and one of most findings that there are, each in a workspace of its own. */
async function plantFindings(ports: Ports, workspaces: number, documentsEach: number): Promise<number> {
  const begin = (workspaceId: string, leaseEndsAtMs = ports.clock.nowMs + HOUR_MS) =>
    ports.begin({ workspaceId: workspaceId as WorkspaceId, sizeBytes: 10, leaseEndsAtMs })
  for (let n = 0; n < workspaces; n++) {
    for (let i = 0; i < documentsEach; i++) await ports.addDocument(begin(workspace(n)))
  }
  ports.objects.documents.delete((await ports.addDocument(begin(workspace(0)))).objectKey)
  ports.putObject({ ...(await ports.addDocument(begin(workspace(1)))), sizeBytes: 11 })
  await ports.run(['copy'], begin(workspace(2)))
  await countMore(ports, 7, workspace(3))
  await ports.run(['hold'], begin(workspace(4), 1))
  // Workspaces that only one table knows, or none.
  await ports.run(['copy'], begin('ws_objects'))
  await ports.run(['begin', 'copy', 'record'], begin('ws_documents'))
  await ports.run(['begin'], begin('ws_pending', 1))
  return 5 + 3
}
