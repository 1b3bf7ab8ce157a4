import { type AuditTask, performAuditTask, type RoundReport } from '../../../lib/audit/audit-round.ts'
import { createReadPace, paceReads } from '../../../lib/aws/read-pace.ts'
import { READS_PER_SECOND_OF_SHARD } from '../../../lib/config.ts'
import { playRound, readAuditDefinition } from '../../support/play-round.ts'
import { AUDIT } from './deployed.ts'
import { clock, dependenciesOf, type Spent, type World } from './world.ts'

export interface Round extends Spent {
  workspaces: number
  documents: number
}

const { signal } = new AbortController()

/** A whole round: the deployed definition, the function's own tasks, on the virtual clock. */
export async function auditRound(world: World): Promise<Round> {
  const { config, population, spent } = world
  const { auditShards, auditRoundHours } = config
  const { memoryMib, sliceMs } = AUDIT

  const invoke = async (task: AuditTask): Promise<unknown> => {
    const instance = world.start(memoryMib)
    const pace = createReadPace({ unitsPerSecond: READS_PER_SECOND_OF_SHARD })
    paceReads(instance, pace)
    const deps = {
      ...dependenciesOf(instance, config),
      metrics: { publish() {} },
      totalShards: auditShards,
      roundMs: auditRoundHours * 3_600_000,
      spentUnits: () => pace.spentUnits,
    }
    const endAtMs = performance.now() + sliceMs
    const isTimeUp = () => performance.now() >= endAtMs
    const startedMs = clock.now()
    try {
      return await performAuditTask(
        task,
        { repair: false, deleteLostDocuments: false, isTimeUp, onFinding },
        deps,
        signal,
      )
    } finally {
      spent.gibSeconds += ((clock.now() - startedMs) / 1000) * (memoryMib / 1024)
    }
  }
  const round = playRound({ definition: readAuditDefinition(), roundId: 'round-1', invoke, signal })
  const { workspaces, documents } = (await clock.runUntilDone(round)) as RoundReport
  const all = population.workspaces * population.documentsEach
  if (workspaces !== population.workspaces || documents !== all) {
    throw new Error(`audited ${workspaces} workspaces and ${documents} documents, not all`)
  }
  return { ...spent, workspaces, documents }
}

function onFinding(finding: object): never {
  throw new Error(`nothing was wrong: ${JSON.stringify(finding)}`)
}
