import type { ServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import { readConfig } from '../../../lib/config.ts'
import type { Consumption } from '../../support/dynamodb/limited-dynamodb.ts'
import { startLimitedDynamoDb } from '../../support/dynamodb/start-limited-dynamodb.ts'
import { prepareTables } from '../contention/service.ts'
import { documentItem, namesOf, workspaceIdOf, workspaceItem } from '../scale/population.ts'
import { serve } from '../worker.ts'

interface Metered {
  calls: number
  readUnits: number
  writeUnits: number
}

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)

const config = readConfig(process.env)
let spent: Consumption[] = []
const { endpoint, dynamoDb } = await startLimitedDynamoDb({
  now: Date.now,
  staleMs: 0,
  onCall: (call) => spent.push(call),
})

const methods = {
  /** Makes the tables of the template, and a workspace with as many documents. */
  async start({ definition, documents }: { definition: Pick<ServiceDefinition, 'tables'>; documents: number }) {
    const [token = ''] = await prepareTables(dynamoDb, definition, config, workspaceIdOf(0))
    const tables = [
      { TableName: config.workspacesTable, items: [workspaceItem(0, { workspaces: 1, documentsEach: documents })] },
      { TableName: config.documentsTable, items: numbers(documents).map((number) => documentItem(0, number)) },
    ]
    for (const { TableName, items } of tables) {
      for (const Item of items) await dynamoDb.execute('PutItem', { TableName, Item })
    }
    const documentIds = numbers(documents).map((number) => namesOf(0, number).documentId)
    return { endpoint, token, documentIds }
  },
  reset() {
    spent = []
  },
  read(): Metered {
    const isRead = ({ operation }: Consumption) => /^(GetItem|Query|Scan)$/.test(operation)
    const unitsOf = (calls: Consumption[]) => calls.reduce((total, { units }) => total + units, 0)
    const writes = spent.filter((call) => !isRead(call))
    return { calls: spent.length, readUnits: unitsOf(spent.filter(isRead)), writeUnits: unitsOf(writes) }
  },
}
export type MeteredDynamoDbMethods = typeof methods

serve(methods)
