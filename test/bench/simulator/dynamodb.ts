import { hashToken } from '../../../lib/auth/api-token.ts'
import { storedLedger } from '../../support/stores/ledger-values.ts'
import type { SimulatedAnswer } from './s3.ts'

interface DynamoDbRequest {
  TableName: string
  Key: Record<string, { S: string }>
  Item?: { item_state?: { S: string } }
  UpdateExpression?: string
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: Record<string, { N?: string }>
}

const QUOTA_BYTES = 2 ** 50
/** The only one that is valid, in every process: of the key `bench` of ws_bench. */
export const BENCH_TOKEN = 'cfp_JJARiN4Petl0totAr2mTMjsdBmK3HNsNTnbKp1QqR3hZWRwR2MHah7Q3EEemH'
const KEY = {
  token_hash: { S: hashToken(BENCH_TOKEN) },
  workspace_id: { S: 'ws_bench' },
  kind: { S: 'standard' },
  permissions: { L: ['files:promote', 'files:read', 'files:delete'].map((S) => ({ S })) },
  user_id: { S: 'user_bench' },
  status: { S: 'enabled' },
}
const LEDGER = storedLedger({
  workspace_id: 'ws_bench',
  quota_bytes: QUOTA_BYTES,
  remaining_bytes: QUOTA_BYTES / 2,
})

/** The calls of a promotion, by port and method. */
export function nameDynamoDbCall(body: string): string {
  const { TableName, Item, UpdateExpression }: DynamoDbRequest = JSON.parse(body)
  if (TableName.endsWith('-keys')) return 'keys.find'
  if (TableName.endsWith('-rate-limits')) return 'rateLimit.take'
  if (Item) return Item.item_state?.S === 'pending' ? 'documents.begin' : 'documents.record'
  if (!UpdateExpression) return 'ledger.read'
  return UpdateExpression.includes('remaining_bytes - ') ? 'ledger.hold' : 'ledger.capture'
}

/** DynamoDB would answer so if every condition held: nothing is stored. */
export function answerDynamoDb(name: string, body: string): SimulatedAnswer {
  const request = JSON.parse(body) as DynamoDbRequest
  return {
    status: 200,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: JSON.stringify(answerTo(name, request)),
  }
}

function answerTo(name: string, request: DynamoDbRequest): object {
  const { Key: key, ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = request
  if (name === 'keys.find') return { Item: { ...key, ...KEY } }
  if (name === 'ledger.read') return { Item: LEDGER }
  if (name === 'ledger.hold') {
    const hold = { [names['#entry'] ?? '']: values[':entry'] }
    return { Attributes: { ...LEDGER, holds: { M: hold } } }
  }
  if (name !== 'rateLimit.take') return {}
  return { Attributes: { tat_ms: values[':first_tat'] ?? values[':now'], ttl_at: values[':ttl_at'] } }
}
