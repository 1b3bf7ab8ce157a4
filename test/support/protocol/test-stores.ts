import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { inject } from 'vitest'
import { readServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import { provision } from '../../../infra/local/stores/provision.ts'
import { readConfig } from '../../../lib/config.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { DueKind } from '../../../lib/ledger/ports/documents.ts'
import { inProcess } from '../aws/in-process.ts'
import { createMemoryDynamoDb } from '../aws/memory-dynamodb.ts'
import { createMemoryS3, memoryS3Client } from '../aws/memory-s3.ts'
import type { LimitedDynamoDbOptions } from '../dynamodb/limited-dynamodb.ts'
import { CREDENTIALS } from '../stores/stand-ins.ts'
import { createWorkspaces } from './workspaces.ts'

/** The stores in memory check no signature. */
export const UNSIGNED = {
  region: 'us-east-1',
  credentials: CREDENTIALS,
  signer: { sign: async (request: object) => request },
}

/**
 * S3 and DynamoDB in memory, with the tables and buckets of serverless.yml: what a process is run on (test-process.ts).
 * @param limited a DynamoDB with the limits of the real one, instead of one without any
 */
export async function createTestStores(limited?: LimitedDynamoDbOptions) {
  const definition = inject('definition') ?? readServiceDefinition()
  const dynamoDbStore = createMemoryDynamoDb(limited)
  const s3Store = createMemoryS3()
  const dynamoDb = new DynamoDB({ ...UNSIGNED, requestHandler: inProcess(dynamoDbStore.store) } as never)
  const s3 = memoryS3Client(s3Store.store)
  await provision(definition, { dynamoDb, s3 })
  const config = readConfig(definition.environment)
  return {
    config,
    dynamoDb,
    s3,
    stores: { dynamoDb: dynamoDbStore.store, s3: s3Store.store },
    ...createWorkspaces({ config, dynamoDb, s3 }),
    /** The shards of the index of due work in which this workspace has anything: the others need not be listed. */
    dueShards(kind: DueKind, workspaceId: WorkspaceId): number[] {
      const items = dynamoDbStore.snapshot().of(config.documentsTable).list({}, Date.now())
      const ofWorkspace = items.filter(({ workspace_id }) => workspace_id?.S === workspaceId)
      const named = ofWorkspace.map(({ due_shard }) => due_shard?.S?.split(' ') ?? [])
      return [...new Set(named.filter(([name]) => name === kind).map(([, shard]) => Number(shard)))]
    },
    /** Everything that is stored; it stays as it is. */
    snapshot: () => ({ dynamoDb: dynamoDbStore.snapshot(), s3: s3Store.snapshot() }),
    restore(snapshot: StoresSnapshot): void {
      dynamoDbStore.restore(snapshot.dynamoDb)
      s3Store.restore(snapshot.s3)
    },
  }
}

export interface StoresSnapshot {
  dynamoDb: ReturnType<ReturnType<typeof createMemoryDynamoDb>['snapshot']>
  s3: ReturnType<ReturnType<typeof createMemoryS3>['snapshot']>
}

export type TestStores = Awaited<ReturnType<typeof createTestStores>>
