import { readServiceDefinition } from '../../../infra/local/service-definition.ts'
import { type Bench, type Row, shown } from '../bench.ts'
import { lambdaEnvironment, ROOT } from '../bundles.ts'
import { simulateTransactions } from '../simulator/transactions.ts'
import { sum } from '../statistics.ts'
import { startWorker } from '../worker.ts'
import type { ContentionMethods } from '../workers/contention.ts'
import type { StandInMethods } from '../workers/stand-ins.ts'

const PROMOTIONS = 300
const CLIENTS = [1, 2, 4, 8, 16, 32, 64, 128, 300]
/** Calls on the workspace's item: one to reserve, one to settle. */
const LEDGER_CALLS = ['ledger.reserve', 'ledger.settle'] as const
const SDK_ATTEMPTS = 4
/** Nothing that limits one key or one workspace may stand in the way. */
const UNLIMITED = { RATE_LIMIT_PER_MINUTE: '60000', RATE_LIMIT_BURST: '10000', DEFAULT_QUOTA_BYTES: `${2 ** 50}` }

/** All in one workspace: handler and adapters as they are, on dynalite in a process of its own; copies cost nothing. */
export const contention: Bench = {
  name: 'contention',
  title: '300 parallel promotions in one workspace',
  async run({ isQuick, progress }) {
    const definition = await readServiceDefinition(ROOT, 'local')
    const standIns = await startWorker<StandInMethods>('workers/stand-ins.ts')
    const { token, dynamoDbEndpoint } = await standIns.call('start', definition)
    const env = { ...lambdaEnvironment(dynamoDbEndpoint), ...definition.environment, ...UNLIMITED }
    const worker = await startWorker<ContentionMethods>('workers/contention.ts', { args: [token], env })
    const promotions = isQuick ? 20 : PROMOTIONS
    progress(`${promotions} at once`)
    const storm = await worker.call('run', { count: promotions, atOnce: promotions })
    const byClients = []
    for (const atOnce of isQuick ? [1, 8] : CLIENTS) {
      progress(`${atOnce} clients`)
      const { seconds } = await worker.call('run', { count: promotions, atOnce })
      byClients.push({ atOnce, perSecond: promotions / seconds })
    }
    await standIns.call('removeFiles', undefined)
    await worker.stop()
    await standIns.stop()

    // A workspace never seen before is made by the first who come: their first try does not count as a conflict.
    const tries = storm.requests['ledger.createWorkspace'] ?? 0
    const repeated = sum(LEDGER_CALLS.map((name) => (storm.requests[name] ?? 0) - promotions)) - tries
    const transactions = {
      asTheSdk: simulateTransactions({ promotions: PROMOTIONS, maxAttempts: SDK_ATTEMPTS }),
      untilDone: simulateTransactions({ promotions: PROMOTIONS, maxAttempts: Number.POSITIVE_INFINITY }),
    }
    const { asTheSdk, untilDone } = transactions
    const single = byClients[0]?.perSecond ?? 0
    const best = Math.max(...byClients.map(({ perSecond }) => perSecond))
    const all = `${storm.succeeded} of ${promotions}`
    return {
      rows: [
        { what: 'promotions that succeed', bar: 'all', measured: all, isMet: storm.succeeded === promotions },
        { what: 'repeated writes on the ledger', bar: '0', measured: String(repeated), isMet: repeated === 0 },
        grows(single, best),
        shown(
          `transactions, ${SDK_ATTEMPTS} tries each (model)`,
          `${asTheSdk.failed} of ${PROMOTIONS} fail, ${asTheSdk.conflicts} conflicts`,
        ),
        shown(
          'transactions, until done (model)',
          `${untilDone.conflicts} conflicts, ${(untilDone.writeUnits / PROMOTIONS).toFixed(0)} write units each, ${(untilDone.lastDoneMs / 1000).toFixed(1)} s`,
        ),
      ],
      figures: { promotions, requests: storm.requests, byClients, transactions },
      plots: [
        {
          file: 'throughput-by-clients',
          title: 'Promotions in one workspace, on the embedded DynamoDB',
          x: 'promotions at the same time',
          y: 'promotions per second',
          kind: 'lines',
          isLogarithmic: true,
          series: [{ name: 'one workspace', points: byClients.map(({ atOnce: x, perSecond: y }) => ({ x, y })) }],
        },
      ],
    }
  },
}

function grows(single: number, best: number): Row {
  const measured = `${best.toFixed(0)} per s, ${(best / single).toFixed(1)} × one client's`
  return { what: 'throughput grows with clients', bar: '> 1 ×', measured, isMet: best > single }
}
