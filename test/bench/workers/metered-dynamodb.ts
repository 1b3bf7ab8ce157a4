import { marshall } from '@aws-sdk/util-dynamodb'
import type { ServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import { toUpdate } from '../../../lib/aws/dynamodb/document-item.ts'
import { newWorkspaceItem } from '../../../lib/aws/dynamodb/workspace-item.ts'
import { readConfig } from '../../../lib/config.ts'
import {
  type ContainerId,
  type DocumentId,
  documentIdOfAttempt,
  type FilePath,
  newAttemptId,
} from '../../../lib/ids.ts'
import type { Consumption } from '../../support/dynamodb/limited-dynamodb.ts'
import { startLimitedDynamoDb } from '../../support/dynamodb/start-limited-dynamodb.ts'
import { prepareTables, USUAL_WORKSPACE as WORKSPACE } from '../contention/service.ts'
import { serve } from '../worker.ts'

export interface Metered {
  calls: number
  readUnits: number
  writeUnits: number
}

const SIZE_BYTES = 8763

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
    const [token = ''] = await prepareTables(dynamoDb, definition, config, WORKSPACE)
    const documentIds: DocumentId[] = []
    for (let number = 0; number < documents; number++) {
      const attemptId = newAttemptId()
      const documentId = documentIdOfAttempt(attemptId)
      const { keys, values } = toUpdate({
        workspaceId: WORKSPACE,
        documentId,
        attemptId,
        objectKey: `documents/${WORKSPACE}/${documentId}/${attemptId}`,
        filename: `output/report-${number}.csv` as FilePath,
        mimeType: 'text/csv',
        sizeBytes: SIZE_BYTES,
        createdAt: new Date(Date.now() - documents + number),
        containerId: 'sess_1' as ContainerId,
        createdBy: 'key_0190a1b2',
        countedFrom: 1,
      })
      const attributes = Object.entries(values).map(([name, value]) => [name.slice(1), value])
      const Item = marshall({ ...keys, ...Object.fromEntries(attributes) })
      await dynamoDb.execute('PutItem', { TableName: config.documentsTable, Item })
      documentIds.push(documentId)
    }
    const Item = marshall(newWorkspaceItem(WORKSPACE, 2 ** 40, documents * SIZE_BYTES))
    await dynamoDb.execute('PutItem', { TableName: config.workspacesTable, Item })
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
