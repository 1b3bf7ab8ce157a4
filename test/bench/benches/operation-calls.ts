import { setTimeout as sleep } from 'node:timers/promises'
import { readServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import { OPERATIONS, type OperationName } from '../../support/api/operations.ts'
import { routeEvent } from '../../support/api/rest-event.ts'
import type { Bench, Row } from '../bench.ts'
import { lambdaEnvironment, withBundles } from '../bundles.ts'
import { ZERO_LATENCY } from '../simulator/model.ts'
import { startSimulator } from '../simulator/start.ts'
import { startWorker } from '../worker.ts'
import type { HandlerMethods } from '../workers/handler.ts'
import type { MeteredDynamoDbMethods } from '../workers/metered-dynamodb.ts'

interface Spent {
  dynamoDbCalls: number
  s3Calls: number
  readUnits: number
  writeUnits: number
}

/** In each of them, the key's record is one read unit, and the rate limit one write unit. */
const MEASURED: { name: OperationName; title: string; functionName: string; bar: Spent }[] = [
  {
    name: 'list_documents',
    title: 'list of 100',
    functionName: 'read-documents',
    bar: { dynamoDbCalls: 4, s3Calls: 0, readUnits: 5, writeUnits: 1 },
  },
  {
    name: 'retrieve_document',
    title: 'retrieve',
    functionName: 'read-documents',
    bar: { dynamoDbCalls: 3, s3Calls: 0, readUnits: 2, writeUnits: 1 },
  },
  {
    name: 'download_document',
    title: 'content',
    functionName: 'read-documents',
    bar: { dynamoDbCalls: 3, s3Calls: 1, readUnits: 2, writeUnits: 1 },
  },
  {
    name: 'delete_document',
    title: 'delete',
    functionName: 'delete-document',
    bar: { dynamoDbCalls: 8, s3Calls: 2, readUnits: 2, writeUnits: 9 },
  },
]
/** How long until a key is at rest again. */
const REST_MS = 300
const DOCUMENTS = 250

/** Counted by a DynamoDB that charges what the real one does, and by the simulated S3. */
export const operationCalls: Bench = {
  name: 'operation-calls',
  title: 'AWS calls and units of the operations on documents, by a key at rest',
  isExact: true,
  run: () =>
    withBundles(async ({ functions }) => {
      const definition = readServiceDefinition()
      const simulator = await startSimulator(ZERO_LATENCY)
      const env = { ...lambdaEnvironment(simulator.endpoint), ...definition.environment }
      const metered = await startWorker<MeteredDynamoDbMethods>('workers/metered-dynamodb.ts', { env })
      const { endpoint, token, documentIds } = await metered.call('start', { definition, documents: DOCUMENTS })
      const measure = async (name: OperationName, functionName: string): Promise<Spent> => {
        const worker = await startWorker<HandlerMethods>('workers/handler.ts', {
          args: [functions[functionName] ?? ''],
          env: { ...env, AWS_ENDPOINT_URL_DYNAMODB: endpoint },
        })
        // A deletion needs another document each time.
        const event = () => {
          const parameters = name === 'list_documents' ? {} : { document_id: documentIds.pop() ?? '' }
          return routeEvent(OPERATIONS[name], { parameters, headers: { authorization: `Bearer ${token}` } })
        }
        await worker.call('load', event())
        await sleep(REST_MS)
        await metered.call('reset', undefined)
        await simulator.call('watch', undefined)
        await worker.call('run', { event: event(), count: 1 })
        // Calls that nobody waits for would be seen, too.
        await sleep(REST_MS)
        const { calls: dynamoDbCalls, ...units } = await metered.call('read', undefined)
        const { calls } = await simulator.call('seen', undefined)
        await worker.stop()
        return { dynamoDbCalls, s3Calls: calls.length, ...units }
      }
      const rows: Row[] = []
      const figures: Record<string, unknown> = {}
      for (const { name, title, functionName, bar } of MEASURED) {
        const spent = await measure(name, functionName)
        figures[name] = spent
        const [wanted, measured] = [describe(bar), describe(spent)]
        rows.push({ what: title, bar: wanted, measured, isMet: wanted === measured })
      }
      for (const each of [metered, simulator]) await each.stop()
      return { rows, figures }
    }),
}

const describe = ({ dynamoDbCalls, s3Calls, readUnits, writeUnits }: Spent) =>
  `${dynamoDbCalls} to DynamoDB, ${s3Calls} to S3; units: ${readUnits} read, ${writeUnits} written`
