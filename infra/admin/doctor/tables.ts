import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb'
import { LISTING_INDEX } from '../../../lib/aws/listing-index.ts'
import { CHECK_INDEX } from '../../../lib/aws/workspace-item.ts'
import type { Config } from '../../../lib/config.ts'
import { advice, type Check, notChecked, problem, setupCheck } from './check.ts'

interface ExpectedTable {
  name: string
  /** Partition key, sort key. */
  keys: string[]
  index?: string
  /** Holds data that cannot be recreated. */
  isRestorable: boolean
  /** Items expire. */
  isExpiring: boolean
}

const EXPIRY_ATTRIBUTE = 'expires_at'

export function tableChecks(config: Config, client: DynamoDBClient): Check[] {
  const tables: ExpectedTable[] = [
    { name: config.keysTable, keys: ['token_hash'], isRestorable: true, isExpiring: false },
    { name: config.workspacesTable, keys: ['workspace_id'], index: CHECK_INDEX, isRestorable: true, isExpiring: false },
    { name: config.reservationsTable, keys: ['workspace_id', 'reservation_id'], isRestorable: true, isExpiring: false },
    {
      name: config.documentsTable,
      keys: ['workspace_id', 'document_id'],
      index: LISTING_INDEX,
      isRestorable: true,
      isExpiring: true,
    },
    { name: config.rateLimitsTable, keys: ['key_id'], isRestorable: false, isExpiring: true },
  ]
  return tables.flatMap((table) => [
    schemaCheck(table, client),
    ...(table.isRestorable ? [backupCheck(table, client)] : []),
    expiryCheck(table, client),
  ])
}

function schemaCheck({ name, keys, index }: ExpectedTable, client: DynamoDBClient): Check {
  return setupCheck(`table ${name}`, 'dynamodb:DescribeTable', async (abortSignal) => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }), { abortSignal })
    const found = (Table?.KeySchema ?? [])
      .toSorted((a, b) => `${a.KeyType}`.localeCompare(`${b.KeyType}`))
      .map(({ AttributeName }) => AttributeName)
    if (found.join() !== keys.join()) {
      return problem(`its key is (${found.join(', ')}), the service needs (${keys.join(', ')}): it is another table`)
    }
    if (Table?.TableStatus !== 'ACTIVE') return problem(`its status is ${Table?.TableStatus}: wait until it is ACTIVE`)
    if (index !== undefined && !Table.GlobalSecondaryIndexes?.some(({ IndexName }) => IndexName === index)) {
      return problem(`it has no index ${index}: add it as in infra/resources/tables.yml`)
    }
    return `ACTIVE, key (${keys.join(', ')})`
  })
}

function backupCheck({ name }: ExpectedTable, client: DynamoDBClient): Check {
  return setupCheck(`point-in-time recovery of ${name}`, 'dynamodb:DescribeContinuousBackups', async (abortSignal) => {
    const answer = await client.send(new DescribeContinuousBackupsCommand({ TableName: name }), { abortSignal })
    const status = answer.ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus
    if (status === 'ENABLED') return 'on'
    return advice('off: what is deleted by mistake cannot be restored; turn it on')
  })
}

function expiryCheck({ name, isExpiring }: ExpectedTable, client: DynamoDBClient): Check {
  return setupCheck(`expiry (TTL) of ${name}`, 'dynamodb:DescribeTimeToLive', async (abortSignal) => {
    const answer = await client.send(new DescribeTimeToLiveCommand({ TableName: name }), { abortSignal })
    const { TimeToLiveStatus: status, AttributeName: attribute } = answer.TimeToLiveDescription ?? {}
    if (status === undefined) return notChecked('the server does not say')
    const isOn = status === 'ENABLED' || status === 'ENABLING'
    if (!isExpiring)
      return isOn ? problem(`on, by ${attribute}: it deletes what must stay; turn it off`) : 'off, as it must be'
    if (isOn && attribute === EXPIRY_ATTRIBUTE) return `on, by ${EXPIRY_ATTRIBUTE}`
    if (isOn) return problem(`on, but by ${attribute}: it must be ${EXPIRY_ATTRIBUTE}`)
    return advice(`off: items that nobody needs any more stay; turn it on, by ${EXPIRY_ATTRIBUTE}`)
  })
}
