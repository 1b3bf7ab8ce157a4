import { readServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import { READS_PER_SECOND_OF_SHARD, readConfig } from '../../../lib/config.ts'
import type { Bench } from '../bench.ts'
import { lambdaEnvironment } from '../bundles.ts'
import { erasureRow, estimateRow, expiryRow, lateRow } from '../scale/rows.ts'
import { startWorker } from '../worker.ts'
import type { ScaleSimulatorMethods } from '../workers/scale-simulator.ts'

const AUDIT = { sliceMs: 240_000, memoryMib: 512 }
const ESTIMATED = { workspaces: 1e6, documentsEach: 1000 }
const FULL = {
  load: { perSecond: 1000, killedShare: 0.01, seconds: 40 },
  busy: { workspaces: 2000, documentsEach: 3 },
  // An eighth of each, as of the shards.
  expiring: {
    load: { perSecond: 125, killedShare: 0.01, seconds: 120, groups: 1 },
    population: { workspaces: 250, documentsEach: 24, expireWithinMs: 60_000 },
  },
  erasing: { workspaces: 4, documentsEach: 10_000 },
  small: { workspaces: 1000, documentsEach: 3 },
  large: { workspaces: 8, documentsEach: 10_000 },
}
/** Just enough to show that it works. */
const QUICK: typeof FULL = {
  load: { perSecond: 10, killedShare: 0.1, seconds: 130 },
  busy: { ...FULL.busy, workspaces: 200 },
  expiring: {
    load: { ...FULL.expiring.load, perSecond: 10, seconds: 60 },
    population: { ...FULL.expiring.population, documentsEach: 4, expireWithinMs: 5000 },
  },
  erasing: { ...FULL.erasing, documentsEach: 1000 },
  small: { ...FULL.small, workspaces: 100 },
  large: { ...FULL.large, documentsEach: 1000 },
}
/** To simulate minutes takes minutes. */
const CALL_LIMIT_MS = 3_600_000

/**
 * Resolver and audit as they ship, with their adapters and the SDK's clients, in as many processes as the template starts, on
 * a virtual clock and on stores that answer and charge as DynamoDB and S3 do.
 */
export const scale: Bench = {
  name: 'scale',
  title: 'Any number of workspaces and documents: resolver and audit',
  isExact: true,
  async run({ isQuick, progress }) {
    // The local stage audits with one shard; a deployed one has the defaults.
    const { AUDIT_SHARDS: _, ...environment } = readServiceDefinition().environment
    const env = { ...lambdaEnvironment('http://unused'), ...environment }
    const options = { env, callLimitMs: CALL_LIMIT_MS }
    const { load, busy, expiring, erasing, ...audited } = isQuick ? QUICK : FULL
    const worker = await startWorker<ScaleSimulatorMethods>('workers/scale-simulator.ts', options)
    progress('resolver')
    const late = await worker.call('sustain', { load, population: busy })
    progress('expired documents')
    const expiry = await worker.call('expire', expiring)
    progress('erasures')
    const erased = await worker.call('erase', { population: erasing })
    progress('audit')
    const rounds = {
      small: await worker.call('round', { ...AUDIT, population: audited.small }),
      large: await worker.call('round', { ...AUDIT, population: audited.large }),
    }
    await worker.stop()
    const { auditShards: shards } = readConfig(env)
    const settings = { shards, readsPerSecond: READS_PER_SECOND_OF_SHARD * shards, memoryMib: AUDIT.memoryMib }
    return [
      lateRow(load, busy.workspaces, late),
      expiryRow(expiring.population, expiry),
      erasureRow(erasing, erased),
      estimateRow(rounds, ESTIMATED, settings),
    ]
  },
}
