import type { SimulatedAnswer } from './s3.ts'

interface DynamoDbRequest {
  Key: Record<string, { S: string }>
  ExpressionAttributeValues?: Record<string, { N?: string }>
  /** Of a query. */
  Limit?: number
}

const QUOTA_BYTES = 2 ** 50
const DOCUMENT_ID = 'file_16HmRr1pMNUvR8VtKc6tm'
const KEY = {
  key_id: { S: 'key_bench' },
  workspace_id: { S: 'ws_bench' },
  kind: { S: 'standard' },
  permissions: { L: ['files:promote', 'files:read', 'files:delete'].map((S) => ({ S })) },
  user_id: { S: 'user_bench' },
  status: { S: 'enabled' },
}

const OBJECT_KEY = { S: `documents/ws_bench/${DOCUMENT_ID}/16HmRr1pMNUvR8VtKc6tm/1.bin` }
const LEDGER = {
  quota_bytes: { N: `${QUOTA_BYTES}` },
  remaining_bytes: { N: `${QUOTA_BYTES / 2}` },
  version: { N: '2' },
}
const LISTED = {
  filename: { S: 'output/report.csv' },
  mime_type: { S: 'text/csv' },
  size_bytes: { N: '8763' },
  created_at: { S: '2026-11-21T09:38:35.556Z' },
}
const DOCUMENT = {
  ...LISTED,
  record_kind: { S: 'document' },
  workspace_id: { S: 'ws_bench' },
  document_id: { S: DOCUMENT_ID },
  attempt_id: { S: '16HmRr1pMNUvR8VtKc6tm' },
  object_key: OBJECT_KEY,
  container_id: { S: 'sess_1' },
  created_by: { S: 'key_bench' },
  listed_at: { S: `2026-11-21T09:38:35.556Z ${DOCUMENT_ID}` },
}

/** What a deletion leaves of the document: see retire in lib/aws/document-records.ts. */
const TOMBSTONE = {
  record_kind: { S: 'tombstone' },
  workspace_id: DOCUMENT.workspace_id,
  document_id: DOCUMENT.document_id,
  attempt_id: DOCUMENT.attempt_id,
  object_key: OBJECT_KEY,
  created_at: LISTED.created_at,
  size_bytes: LISTED.size_bytes,
  counted_from: { N: '1' },
}

/** What DynamoDB would say if every condition held: nothing is stored. Any token is a valid one. */
export function answerDynamoDb(name: string, body: string): SimulatedAnswer {
  const request = JSON.parse(body) as DynamoDbRequest
  return {
    status: 200,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: JSON.stringify(answerTo(name, request)),
  }
}

function answerTo(
  name: string,
  { Key: key, ExpressionAttributeValues: values = {}, Limit = 0 }: DynamoDbRequest,
): object {
  switch (name) {
    case 'keys.find':
      return { Item: { ...key, ...KEY } }
    case 'rateLimit.take':
      return { Attributes: { tat_ms: values[':first_tat'] ?? values[':now'], expires_at: values[':expires_at'] } }
    case 'ledger.take':
    case 'ledger.mark':
    case 'ledger.release':
      return { Attributes: LEDGER }
    case 'ledger.read':
      return { Item: LEDGER }
    case 'documents.find':
      return { Item: DOCUMENT }
    case 'documents.list':
      return { Items: Array.from({ length: Limit }, () => ({ ...LISTED, document_id: { S: DOCUMENT_ID } })) }
    case 'documents.retire':
      return { Attributes: TOMBSTONE }
    default:
      return {}
  }
}
