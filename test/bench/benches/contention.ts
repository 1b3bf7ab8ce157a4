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
/** DynamoDB's limit for one item, as for one partition. */
const UNITS_PER_SECOND = 1000
const GROWTH_BAR = 1.2
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
    // So that the workspace exists and the connections are open.
    await worker.call('run', { count: promotions, atOnce: 8 })
    progress(`${promotions} at once`)
    const storm = await worker.call('run', { count: promotions, atOnce: promotions })
    const byClients = []
    for (const atOnce of isQuick ? [1, 8] : CLIENTS) {
      progress(`${atOnce} clients`)
      const { seconds, succeeded } = await worker.call('run', { count: promotions, atOnce })
      if (succeeded !== promotions) throw new Error(`with ${atOnce} clients only ${succeeded} promotions succeeded`)
      byClients.push({ atOnce, perSecond: promotions / seconds })
    }
    await standIns.call('removeFiles', undefined)
    await worker.stop()
    await standIns.stop()

    const repeated = sum(LEDGER_CALLS.map((name) => (storm.requests[name] ?? 0) - promotions))
    const transactions = {
      fourTries: simulateTransactions({ promotions: PROMOTIONS, maxAttempts: 4 }),
      untilDone: simulateTransactions({ promotions: PROMOTIONS, maxAttempts: Number.POSITIVE_INFINITY }),
    }
    const { fourTries, untilDone } = transactions
    const single = byClients[0]?.perSecond ?? 0
    const best = Math.max(...byClients.map(({ perSecond }) => perSecond))
    const all = `${storm.succeeded} of ${promotions}`
    const each = (value: number) => (value / promotions).toFixed(1)
    return {
      rows: [
        { what: 'promotions that succeed', bar: 'all', measured: all, isMet: storm.succeeded === promotions },
        { what: 'repeated writes on the ledger', bar: '0', measured: String(repeated), isMet: repeated === 0 },
        grows(single, best),
        shown('writes of the rate limit, for each', each(storm.requests['rateLimit.take'] ?? 0)),
        shown(
          `write units of the ledger, for each`,
          `${each(storm.ledgerUnits)}; 1,000 a second and item make ${(storm.ledgerUnits / UNITS_PER_SECOND).toFixed(1)} s`,
        ),
        shown(
          'transactions, 4 tries each (model)',
          `${fourTries.failed} of ${PROMOTIONS} fail, ${fourTries.conflicts} conflicts`,
        ),
        shown(
          'transactions, until done (model)',
          `${untilDone.conflicts} conflicts, ${(untilDone.writeUnits / PROMOTIONS).toFixed(0)} units each if the item were small, ${(untilDone.lastDoneMs / 1000).toFixed(1)} s`,
        ),
      ],
      figures: { promotions, requests: storm.requests, ledgerUnits: storm.ledgerUnits, byClients, transactions },
      plots: [
        {
          file: 'throughput-by-clients',
          title: 'Promotions in one workspace, on the embedded DynamoDB',
          x: 'promotions at the same time',
          y: 'promotions per second',
          kind: 'lines',
          logarithmic: 'both',
          series: [{ name: 'one workspace', points: byClients.map(({ atOnce: x, perSecond: y }) => ({ x, y })) }],
        },
      ],
    }
  },
}

function grows(single: number, best: number): Row {
  const growth = best / single
  const measured = `${growth.toFixed(1)} × one client's (${best.toFixed(0)} per s)`
  return { what: 'throughput grows with clients', bar: `≥ ${GROWTH_BAR} ×`, measured, isMet: growth >= GROWTH_BAR }
}
