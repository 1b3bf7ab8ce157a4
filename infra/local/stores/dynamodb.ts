import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { ClassicLevel } from 'classic-level'
import dynalite from 'dynalite'
import db from 'dynalite/db/index.js'
import deleteItem from 'dynalite/validations/deleteItem.js'
import putItem from 'dynalite/validations/putItem.js'
import updateItem from 'dynalite/validations/updateItem.js'
import { type StandIn, startStandIn } from '../loopback.ts'

/** Told of each item that is about to be written, unless its indexes could not be. */
export type OnWrite = NonNullable<Parameters<typeof dynalite>[0]['onWrite']>

/** Far more than any request takes. */
const LONGEST_WORK_MS = 10_000

type Options = { directory: string | undefined; dynamoDbPort?: number | undefined; onWrite?: OnWrite | undefined }

/** An embedded DynamoDB (dynalite), on loopback only. @param options.directory undefined: its data is in memory */
export async function startDynamoDb(options: Options): Promise<StandIn> {
  if (options.directory !== undefined) await rebuildIndexes(options.directory)
  const server = dynalite({ createTableMs: 0, path: options.directory, onWrite: options.onWrite })
  // dynalite reports every table's expiry as off and cannot turn it on: better that it knows no such operation.
  server.prependListener('request', ({ headers }: IncomingMessage) => {
    if (String(headers['x-amz-target']).endsWith('.DescribeTimeToLive')) headers['x-amz-target'] = ''
  })
  // dynalite throws what a client that breaks off leaves behind, where nobody can catch it; Node.js drops it unheard.
  server.on('request', (request: IncomingMessage) => request.removeAllListeners('error'))
  const begun = new Set<ServerResponse>()
  server.prependListener('request', (_, response: ServerResponse) => {
    begun.add(response)
    response.once('close', () => response.writableEnded && begun.delete(response))
  })
  const standIn = await startStandIn(server, options.dynamoDbPort ?? 0)
  return {
    ...standIn,
    /** dynalite works on for a client that is gone, and throws what it meets in a closed database: it may end first. */
    async stop() {
      server.removeAllListeners('request')
      const isWorking = () => [...begun].some(({ req, writableEnded }) => req.readableEnded && !writableEnded)
      for (const endsAtMs = performance.now() + LONGEST_WORK_MS; isWorking() && performance.now() < endsAtMs; )
        await sleep(1)
      await standIn.stop()
    },
  }
}

/**
 * Makes the entries of all indexes from the items. dynalite writes entries before their item, so a process that is killed
 * in between leaves entries of no item, or an item without its entries.
 */
async function rebuildIndexes(directory: string): Promise<void> {
  type Table = { TableName: string; GlobalSecondaryIndexes?: { IndexName: string }[] }
  const level = new ClassicLevel<string, object>(directory, { valueEncoding: 'json' })
  const below = (prefix: string) => ({ gt: prefix, lt: `${prefix}\xff` })
  for await (const table of level.values(below('table~'))) {
    const { TableName: name, GlobalSecondaryIndexes: indexes = [] } = table as Table
    for (const { IndexName } of indexes) await level.clear(below(`index-global~${name}~${IndexName}~`))
    for await (const item of level.values(below(`item-${name}~`))) {
      for (const { index, key, item: entry } of db.getIndexActions(indexes, null, item, table).puts)
        await level.put(`index-global~${name}~${index}~${key}`, entry)
    }
  }
  await level.close()
}

// DynamoDB returns the item with a failed condition when asked to; dynalite does not. It checks the condition under the
// item's lock, so adding the item there is exact.
for (const { types } of [deleteItem, putItem, updateItem])
  types.ReturnValuesOnConditionCheckFailure = { type: 'String', enum: ['ALL_OLD', 'NONE'] }
const { checkConditional, updateIndexes } = db
db.checkConditional = (request, existingItem) => {
  const failure = checkConditional(request, existingItem)
  if (failure && existingItem && request.ReturnValuesOnConditionCheckFailure === 'ALL_OLD')
    failure.body.Item = existingItem
  return failure
}

db.updateIndexes = (store, table, before, after, done) =>
  updateIndexes(store, table, before, after, (error) => {
    if (!error) store.options?.onWrite?.(table.TableName, before, after)
    done(error)
  })
