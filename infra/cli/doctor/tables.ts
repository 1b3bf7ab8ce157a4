import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb'
import { LISTING_INDEX } from '../../../lib/aws/dynamodb/document-listing.ts'
import { DUE_INDEX } from '../../../lib/aws/dynamodb/documents.ts'
import type { Config } from '../../../lib/config.ts'
import { problemsInIndexes } from '../../deploy/describe-table.ts'
import { advice, type Check, notChecked, problem, setupCheck } from './check.ts'

const EXPIRY_ATTRIBUTE = 'ttl_at'

export function tableChecks(config: Config, client: DynamoDBClient): Check[] {
  return [
    schemaCheck(config.keysTable, ['owner_hash', 'key_id'], [], client),
    schemaCheck(config.workspacesTable, ['workspace_id'], [], client),
    schemaCheck(config.documentsTable, ['workspace_id', 'document_id'], [LISTING_INDEX, DUE_INDEX], client),
    schemaCheck(config.rateLimitsTable, ['key_id'], [], client),
  ]
}

export function tableSetupChecks(config: Config, client: DynamoDBClient): Check[] {
  const { keysTable, workspacesTable, documentsTable, rateLimitsTable } = config
  return [
    // Rate limits need no backup: they can be made anew.
    ...[keysTable, workspacesTable, documentsTable].map((name) => backupCheck(name, client)),
    ...[keysTable, workspacesTable].map((name) => expiryCheck(name, false, client)),
    ...[documentsTable, rateLimitsTable].map((name) => expiryCheck(name, true, client)),
  ]
}

/** @param keys partition key, sort key */
function schemaCheck(name: string, keys: string[], indexes: string[], client: DynamoDBClient): Check {
  return setupCheck(`table ${name}`, 'dynamodb:DescribeTable', async (abortSignal) => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }), { abortSignal })
    const found = (Table?.KeySchema ?? [])
      .toSorted((a, b) => `${a.KeyType}`.localeCompare(`${b.KeyType}`))
      .map(({ AttributeName }) => AttributeName)
    if (found.join() !== keys.join()) {
      return problem(`its key is (${found.join(', ')}), the service needs (${keys.join(', ')}): it is another table`)
    }
    if (Table?.TableStatus !== 'ACTIVE') return problem(`its status is ${Table?.TableStatus}: wait until it is ACTIVE`)
    const problems = problemsInIndexes(Table, indexes)
    if (problems.length > 0) return problem(problems.join('; '))
    return `ACTIVE, key (${keys.join(', ')})`
  })
}

function backupCheck(TableName: string, client: DynamoDBClient): Check {
  const name = `point-in-time recovery of ${TableName}`
  return setupCheck(name, 'dynamodb:DescribeContinuousBackups', async (abortSignal) => {
    const answer = await client.send(new DescribeContinuousBackupsCommand({ TableName }), { abortSignal })
    const status = answer.ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus
    if (status === 'ENABLED') return 'on'
    return advice('off: what is deleted by mistake cannot be restored; turn it on')
  })
}

function expiryCheck(TableName: string, isExpiring: boolean, client: DynamoDBClient): Check {
  return setupCheck(`expiry (TTL) of ${TableName}`, 'dynamodb:DescribeTimeToLive', async (abortSignal) => {
    const answer = await client.send(new DescribeTimeToLiveCommand({ TableName }), { abortSignal })
    const { TimeToLiveStatus: status, AttributeName: attribute } = answer.TimeToLiveDescription ?? {}
    if (status === undefined) return notChecked('the server does not say')
    const isOn = status === 'ENABLED' || status === 'ENABLING'
    if (isOn && !isExpiring) return problem(`on, by ${attribute}: it deletes what must stay; turn it off`)
    if (!isExpiring) return 'off, as it must be'
    if (isOn && attribute === EXPIRY_ATTRIBUTE) return `on, by ${EXPIRY_ATTRIBUTE}`
    if (isOn) return problem(`on, but by ${attribute}: it must be ${EXPIRY_ATTRIBUTE}`)
    return advice(`off: items that nobody needs any more stay; turn it on, by ${EXPIRY_ATTRIBUTE}`)
  })
}
