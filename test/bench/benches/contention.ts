import { readServiceDefinition, type ServiceDefinition } from '../../../infra/local/service-definition.ts'
import { type Bench, type BenchContext, shown } from '../bench.ts'
import { lambdaEnvironment, ROOT } from '../bundles.ts'
import { BEFORE } from '../contention/before.ts'
import {
  atRestRows,
  burstRow,
  type Found,
  ledgerRow,
  overloadRows,
  SUSTAINED_BAR,
  sustainedRow,
  UNDER_WAY,
} from '../contention/rows.ts'
import { simulateTransactions } from '../simulator/transactions.ts'
import { startWorker, type Worker } from '../worker.ts'
import type { ContentionMethods } from '../workers/contention.ts'
import type { ContentionSimulatorMethods } from '../workers/contention-simulator.ts'
import type { LimitedDynamoDbMethods } from '../workers/limited-dynamodb.ts'

const COPY_SECONDS = [0.1, 1, 5, 20]
/** Tried one after the other, until one is sustained. */
const RATES = [490, 450, SUSTAINED_BAR, 300, 200, 100, 50]
const REAL_BURST = { count: 300, copySeconds: 3, withinSeconds: 3 }
const BURST = { count: 1000, copySeconds: 1, withinSeconds: 8 }
/** The longest on a slow machine: a minute of 1,500 requests a second. */
const CALL_LIMIT_MS = 3_600_000
/** Nothing that limits one key or one workspace may stand in the way. */
const UNLIMITED = { RATE_LIMIT_PER_MINUTE: '60000', RATE_LIMIT_BURST: '10000', DEFAULT_QUOTA_BYTES: `${2 ** 50}` }

type Simulator = Worker<ContentionSimulatorMethods>

/**
 * One workspace under DynamoDB's own limits of 1,000 write units a second and item. The handler, the use case, the adapters
 * and the SDK's clients are the real ones; most of it runs on a virtual clock, in as many processes as Lambda would start.
 */
export const contention: Bench = {
  name: 'contention',
  title: 'One busy workspace, under the limits of DynamoDB',
  async run(context) {
    const definition = await readServiceDefinition(ROOT, 'local')
    const env = { ...lambdaEnvironment('http://unused'), ...definition.environment, ...UNLIMITED }
    const start = () =>
      startWorker<ContentionSimulatorMethods>('workers/contention-simulator.ts', { env, callLimitMs: CALL_LIMIT_MS })
    // No time is measured in them, so that both processors may be busy.
    const simulators = await Promise.all([start(), start()])
    const found = await simulateAll(simulators, definition, context)
    await Promise.all(simulators.map((simulator) => simulator.stop()))
    context.progress('at once, in real time')
    const realBurst = await runRealBurst(definition, env, context)
    const transactions = simulateTransactions({ promotions: UNDER_WAY, maxAttempts: 4 })
    return {
      rows: [
        ...COPY_SECONDS.map((copySeconds) => sustainedRow(copySeconds, found.sustained[copySeconds] ?? 0)),
        burstRow(`${REAL_BURST.count} at once, copies of ${REAL_BURST.copySeconds} s, in real time`, {
          ...REAL_BURST,
          succeeded: realBurst.answers[200] ?? 0,
          beyondSeconds: realBurst.seconds - REAL_BURST.copySeconds,
          leftOpen: realBurst.leftOpen,
          before: BEFORE.burst300,
        }),
        burstRow(`${BURST.count} at once, copies of ${BURST.copySeconds} s`, {
          ...BURST,
          succeeded: found.burst.answers[200] ?? 0,
          beyondSeconds: found.burst.beyondCopySeconds.most,
          leftOpen: found.burst.leftOpen,
          before: BEFORE.burst1000,
        }),
        ...overloadRows(found.overload, found.perSecond),
        ledgerRow(found.refusals),
        ...atRestRows(found.unitsAtRest, context.figures),
        shown(
          `${UNDER_WAY} at once by transactions, 4 tries each (model)`,
          `${transactions.failed} fail, ${transactions.conflicts} conflicts`,
        ),
      ],
      figures: { ...found, realBurst, transactions },
      plots: [
        {
          file: 'goodput-under-overload',
          title: `A workspace at three times ${found.perSecond} a second for a minute, then at 0.9 of it`,
          x: 'seconds',
          y: 'promotions per second',
          kind: 'lines',
          series: [
            {
              name: 'answered 200',
              points: found.overload.goodput.map(({ untilSeconds: x, perSecond: y }) => ({ x, y })),
            },
          ],
        },
      ],
    }
  },
}

/** Everything that needs no real time, on as many simulators as there are. */
async function simulateAll(
  simulators: Simulator[],
  definition: ServiceDefinition,
  { isQuick, progress }: BenchContext,
): Promise<Found> {
  const idle = [...simulators]
  const waiting: ((simulator: Simulator) => void)[] = []
  const use = async <Result>(what: string, work: (simulator: Simulator) => Promise<Result>): Promise<Result> => {
    const simulator = idle.pop() ?? (await new Promise<Simulator>((resolve) => waiting.push(resolve)))
    progress(what)
    const result = await work(simulator)
    const next = waiting.shift()
    if (next) next(simulator)
    else idle.push(simulator)
    return result
  }
  const seconds = isQuick ? 1 : 12
  const highest = async (copySeconds: number): Promise<number> => {
    const sustains = (perSecond: number) =>
      use(`${perSecond} a second, copies of ${copySeconds} s`, (simulator) =>
        simulator.call('sustains', { perSecond, copySeconds, seconds, definition }),
      )
    for (const perSecond of isQuick ? RATES.slice(-1) : RATES) if (await sustains(perSecond)) return perSecond
    return 0
  }
  const bursting = use('at once', (simulator) =>
    simulator.call('burst', { ...BURST, count: isQuick ? 20 : BURST.count, definition }),
  )
  const refusing = use('a full quota', (simulator) =>
    simulator.call('refusals', { underWay: isQuick ? 20 : UNDER_WAY, refused: 50, definition }),
  )
  const resting = use('at rest', (simulator) => simulator.call('atRest', definition))
  const rates = await Promise.all(COPY_SECONDS.map(async (copySeconds) => [copySeconds, await highest(copySeconds)]))
  const sustained = Object.fromEntries(rates) as Record<number, number>
  const perSecond = sustained[1] ?? 0
  const overload = await use('three times the rate', (simulator) =>
    simulator.call('overload', {
      perSecond,
      copySeconds: 1,
      seconds: isQuick ? 5 : 60,
      secondsAfter: isQuick ? 15 : 40,
      definition,
    }),
  )
  return { sustained, perSecond, burst: await bursting, overload, refusals: await refusing, unitsAtRest: await resting }
}

/** In real time, over the wire. */
async function runRealBurst(
  definition: ServiceDefinition,
  env: Record<string, string>,
  { isQuick }: BenchContext,
): Promise<{ answers: Record<string, number>; seconds: number; leftOpen: number }> {
  const dynamoDb = await startWorker<LimitedDynamoDbMethods>('workers/limited-dynamodb.ts', { env })
  const { endpoint, tokens } = await dynamoDb.call('start', definition)
  const lambdas = await startWorker<ContentionMethods>('workers/contention.ts', {
    args: tokens,
    env: { ...env, AWS_ENDPOINT_URL_DYNAMODB: endpoint },
  })
  const count = isQuick ? 20 : REAL_BURST.count
  // So that the workspace is there, the connections are open and the code is warm.
  await lambdas.call('run', { count, copySeconds: 0 })
  const storm = await lambdas.call('run', { count, copySeconds: REAL_BURST.copySeconds })
  const { leftOpen } = await dynamoDb.call('read', undefined)
  await lambdas.stop()
  await dynamoDb.stop()
  return { ...storm, leftOpen }
}
