import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { S3Client } from '@aws-sdk/client-s3'
import { marshall } from '@aws-sdk/util-dynamodb'
import { readTables } from '../../../infra/deploy/service-definition.ts'
import { hashToken, keyIdIn, keyIdOf, newToken } from '../../../lib/auth/api-token.ts'
import { keyOfRecord } from '../../../lib/aws/dynamodb/api-key-store.ts'
import { DUE_INDEX } from '../../../lib/aws/dynamodb/documents.ts'
import { openStores } from '../../../lib/aws/stores.ts'
import { type Config, MOST_REQUESTS_PER_MINUTE } from '../../../lib/config.ts'
import type { RestoreDependencies } from '../../../lib/containers/restore-document.ts'
import type { createPromoteContainerFileHandler } from '../../../lib/http/promotion-handler.ts'
import type { Log } from '../../../lib/logging.ts'
import { createAdmission } from '../../../lib/promotion/admission.ts'
import type { LimitedDynamoDb } from '../../support/dynamodb/limited-dynamodb.ts'
import { createTables } from '../../support/dynamodb/memory-tables.ts'
import type { Simulated } from './simulated-s3.ts'

/** As long as an id can be, because each letter is written with every promotion. */
const WORKSPACE = 'ws_0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'.padEnd(128, '-0')
/** Enough that no key's own limit gets in the way: what refuses is to be the ledger. */
const KEYS = 50
export const SILENT: Log = { info() {}, warn() {}, error() {}, with: () => SILENT }
const now = () => Date.now()

type Tables = Pick<LimitedDynamoDb, 'execute'>

/** Makes the tables of the template, and API keys of one workspace. @returns their tokens */
export async function prepareTables(dynamoDb: Tables, { keysTable }: Config) {
  createTables(dynamoDb, readTables(process.env))
  return Promise.all(
    Array.from({ length: KEYS }, async (_, number) => {
      const token = newToken(keyIdOf(WORKSPACE, `${number}`))
      const Item = marshall({
        token_hash: hashToken(token),
        ...keyOfRecord(keyIdIn(token)),
        workspace_id: WORKSPACE,
        kind: 'management',
        permissions: ['containers:write'],
        status: 'enabled',
        requests_per_minute: MOST_REQUESTS_PER_MINUTE,
      })
      await dynamoDb.execute('PutItem', { TableName: keysTable, Item })
      return token
    }),
  )
}

/** A function as a process of its own has it, with a memory of its own; only S3 is an object of ours. */
export function createProcess<Handler>(
  create: (deps: Parameters<typeof createPromoteContainerFileHandler>[0] & RestoreDependencies) => Handler,
  { config, client, objects }: { config: Config; client: DynamoDBClient; objects: Simulated },
): Handler {
  // Nothing here reaches a bucket.
  const stores = openStores({ config, dynamoDb: client, s3: {} as S3Client, now })
  return create({
    ...config,
    ...stores,
    ...{ objects, documentObjects: objects, containerFileWriter: objects },
    containerFiles: { ...stores.containerFiles, findContainerFile: objects.findContainerFile },
    admission: createAdmission({ now }),
    log: SILENT,
    metrics: { publish() {} },
  })
}

/** Promotions that have not ended leave items that only the end of their lease will remove. */
export async function countLeftOpen(dynamoDb: Tables, config: Config): Promise<number> {
  const Key = marshall({ workspace_id: WORKSPACE })
  const { Item } = await dynamoDb.execute('GetItem', { TableName: config.workspacesTable, Key, ConsistentRead: true })
  const { holds, refunds } = (Item ?? {}) as Record<string, { M?: object }>
  const { Count } = await dynamoDb.execute('Scan', { TableName: config.documentsTable, IndexName: DUE_INDEX })
  return Object.keys({ ...holds?.M, ...refunds?.M }).length + Number(Count)
}
