import type { DynamoDB } from '@aws-sdk/client-dynamodb'
import { problemsInIndexes } from '../../deploy/describe-table.ts'
import type { DeclaredTable } from '../../deploy/service-definition.ts'
import { advice, type Check, notChecked, problem, setupCheck } from './check.ts'

export function tableSetupChecks(tables: DeclaredTable[], client: DynamoDB): Check[] {
  const backedUp = tables.filter((table) => table.PointInTimeRecoverySpecification)
  return [
    ...backedUp.map(({ TableName }) => backupCheck(TableName, client)),
    ...tables.map((table) => expiryCheck(table, client)),
  ]
}

const keyIn = (schema: DeclaredTable['KeySchema'] = []) => schema.map(({ AttributeName }) => AttributeName).join(', ')

export function schemaCheck(declared: DeclaredTable, client: DynamoDB): Check {
  const { TableName, KeySchema, GlobalSecondaryIndexes = [] } = declared
  return setupCheck(`table ${TableName}`, 'dynamodb:DescribeTable', async (abortSignal) => {
    const { Table } = await client.describeTable({ TableName }, { abortSignal })
    const found = keyIn(Table?.KeySchema)
    const wanted = keyIn(KeySchema)
    if (found !== wanted) return problem(`its key is (${found}), the service needs (${wanted}): it is another table`)
    if (Table?.TableStatus !== 'ACTIVE') return problem(`its status is ${Table?.TableStatus}: wait until it is ACTIVE`)
    const indexes = GlobalSecondaryIndexes.map(({ IndexName }) => `${IndexName}`)
    const problems = problemsInIndexes(Table, indexes)
    if (problems.length > 0) return problem(problems.join('; '))
    return `ACTIVE, key (${wanted})`
  })
}

function backupCheck(TableName: string, client: DynamoDB): Check {
  const name = `point-in-time recovery of ${TableName}`
  return setupCheck(name, 'dynamodb:DescribeContinuousBackups', async (abortSignal) => {
    const answer = await client.describeContinuousBackups({ TableName }, { abortSignal })
    const status = answer.ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus
    if (status === 'ENABLED') return 'on'
    return advice('off: what is deleted by mistake cannot be restored; turn it on')
  })
}

function expiryCheck({ TableName, TimeToLiveSpecification }: DeclaredTable, client: DynamoDB): Check {
  const wanted = TimeToLiveSpecification?.AttributeName
  return setupCheck(`expiry (TTL) of ${TableName}`, 'dynamodb:DescribeTimeToLive', async (abortSignal) => {
    const answer = await client.describeTimeToLive({ TableName }, { abortSignal })
    const { TimeToLiveStatus: status, AttributeName } = answer.TimeToLiveDescription ?? {}
    if (status === undefined) return notChecked('the server does not say')
    const found = /^ENABL/.test(status) ? AttributeName : undefined
    if (found === wanted) return found === undefined ? 'off, as it must be' : `on, by ${found}`
    if (wanted === undefined) return problem(`on, by ${found}: it deletes what must stay; turn it off`)
    if (found !== undefined) return problem(`on, but by ${found}: it must be ${wanted}`)
    return advice(`off: items that nobody needs any more stay; turn it on, by ${wanted}`)
  })
}
