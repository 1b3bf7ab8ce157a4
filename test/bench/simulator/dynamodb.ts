import type { SimulatedAnswer } from './s3.ts'

interface DynamoDbRequest {
  Key: Record<string, { S: string }>
  ExpressionAttributeValues?: Record<string, { N?: string }>
}

const QUOTA_BYTES = 2 ** 50
const KEY = {
  key_id: { S: 'key_bench' },
  workspace_id: { S: 'ws_bench' },
  kind: { S: 'standard' },
  permissions: { L: [{ S: 'files:promote' }] },
  user_id: { S: 'user_bench' },
  status: { S: 'enabled' },
}

/** What DynamoDB would say if every condition held: nothing is stored. Any token is a valid one. */
export function answerDynamoDb(name: string, body: string): SimulatedAnswer {
  const { Key, ExpressionAttributeValues = {} } = JSON.parse(body) as DynamoDbRequest
  return {
    status: 200,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: JSON.stringify(answerTo(name, Key, ExpressionAttributeValues)),
  }
}

function answerTo(
  name: string,
  key: DynamoDbRequest['Key'],
  values: NonNullable<DynamoDbRequest['ExpressionAttributeValues']>,
): object {
  switch (name) {
    case 'keys.find':
      return { Item: { ...key, ...KEY } }
    case 'rateLimit.take':
      return { Attributes: { tat_ms: values[':first_tat'] ?? values[':now'], expires_at: values[':expires_at'] } }
    case 'ledger.take':
      return { Attributes: { quota_bytes: { N: `${QUOTA_BYTES}` }, remaining_bytes: { N: `${QUOTA_BYTES / 2}` } } }
    default:
      return {}
  }
}
