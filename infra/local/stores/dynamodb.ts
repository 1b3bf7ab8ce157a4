import type { RequestListener, Server } from 'node:http'
import dynalite from 'dynalite'
import db from 'dynalite/db/index.js'
import deleteItem from 'dynalite/validations/deleteItem.js'
import putItem from 'dynalite/validations/putItem.js'
import updateItem from 'dynalite/validations/updateItem.js'
import { close, LOOPBACK, listen, refuseForeign } from '../loopback.ts'

export interface StandIn {
  endpoint: string
  stop(): Promise<void>
}

/**
 * An embedded DynamoDB (dynalite), on loopback only.
 * @param options.directory where its data is kept; undefined: in memory @param options.dynamoDbPort omitted: any free one
 */
export async function startDynamoDb(options: {
  directory: string | undefined
  dynamoDbPort?: number | undefined
}): Promise<StandIn> {
  const server = dynalite({ createTableMs: 0, ...(options.directory === undefined ? {} : { path: options.directory }) })
  refuseTtlQuery(server)
  refuseForeign(server)
  const port = await listen(server, options.dynamoDbPort ?? 0)
  return { endpoint: `http://${LOOPBACK}:${port}`, stop: () => close(server) }
}

/** dynalite reports every table's expiry as off and cannot turn it on, so we answer as if it had no such operation. */
function refuseTtlQuery(server: Server): void {
  const answer = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request').on('request', (request, response) => {
    if (!String(request.headers['x-amz-target']).endsWith('.DescribeTimeToLive')) {
      for (const listener of answer) listener(request, response)
      return
    }
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' })
    response.end(JSON.stringify({ __type: 'com.amazon.coral.service#UnknownOperationException' }))
  })
}

// DynamoDB returns the item with a failed condition when asked to; dynalite does not. It checks the condition under the
// item's lock, so adding the item there is exact.
for (const { types } of [deleteItem, putItem, updateItem]) {
  types.ReturnValuesOnConditionCheckFailure = { type: 'String', enum: ['ALL_OLD', 'NONE'] }
}
const checkConditional = db.checkConditional
db.checkConditional = (request, existingItem) => {
  const failure = checkConditional(request, existingItem)
  if (failure && existingItem && request.ReturnValuesOnConditionCheckFailure === 'ALL_OLD') {
    failure.body.Item = existingItem
  }
  return failure
}
