import type { IncomingMessage } from 'node:http'

interface DynamoDbInput {
  ConditionExpression?: string
  TableName: string
  IndexName?: string
  UpdateExpression?: string
  Item?: { purpose?: { S: string } }
  Key?: { reservation_id?: { S: string } }
}

/**
 * DynamoDB calls by table and purpose, guessed from their expressions: the reference program that is measured beside ours
 * does not name its calls.
 */
export function nameDynamoDbCall({ body }: { body: string }, headers: IncomingMessage['headers']): string {
  const operation = String(headers['x-amz-target']).replace(/^.*\./, '')
  const { RequestItems = {}, ...rest } = JSON.parse(body) as DynamoDbInput & { RequestItems?: object }
  const input = { ...rest, TableName: rest.TableName ?? Object.keys(RequestItems)[0] ?? '' }
  if (input.TableName.endsWith('-keys')) return 'keys.find'
  if (input.TableName.endsWith('-rate-limits')) return 'rateLimit.take'
  if (input.TableName.endsWith('-documents')) return `documents.${nameDocumentsCall(operation, input)}`
  if (input.TableName.endsWith('-reservations')) return `reservations.${nameReservationsCall(operation, input)}`
  return `ledger.${nameLedgerCall(operation, input)}`
}

function nameDocumentsCall(operation: string, { UpdateExpression = '' }: DynamoDbInput): string {
  if (UpdateExpression.includes('filename = ')) return 'record'
  if (UpdateExpression.startsWith('SET listed_at = ')) return 'addToListing'
  if (UpdateExpression.includes('REMOVE filename')) return 'retire'
  if (UpdateExpression.includes('closed_by = ')) return 'close'
  if (UpdateExpression.includes('fenced_through = ')) return 'fence'
  if (UpdateExpression.includes('expires_at = ')) return 'finish'
  return nameRead(operation)
}

function nameReservationsCall(operation: string, { Item, Key, ConditionExpression = '' }: DynamoDbInput): string {
  const isNote = /^(late_copy|deletion)_/.test(Key?.reservation_id?.S ?? '')
  const puts: Record<string, string> = { promotion: 'open', forestalled: 'forestall', claim: 'claim' }
  if (operation === 'PutItem') return puts[Item?.purpose?.S ?? ''] ?? 'note'
  if (operation === 'UpdateItem') return 'close'
  if (operation === 'DeleteItem' && ConditionExpression.includes('purpose')) return 'forestall'
  if (operation === 'DeleteItem') return isNote ? 'removeNote' : 'remove'
  return nameRead(operation)
}

function nameLedgerCall(operation: string, { IndexName, UpdateExpression }: DynamoDbInput): string {
  if (IndexName !== undefined) return 'listDue'
  if (operation === 'GetItem') return 'read'
  if (operation === 'PutItem') return 'createWorkspace'
  if (UpdateExpression === undefined) return nameRead(operation)
  if (UpdateExpression.includes('remaining_bytes - ')) return 'take'
  if (UpdateExpression.includes('remaining_bytes + #markers')) return 'release'
  if (UpdateExpression.includes('#marker = :marker')) return 'mark'
  if (UpdateExpression.startsWith('REMOVE #markers')) return 'unmark'
  if (UpdateExpression.startsWith('SET check_due_at = if_not_exists')) return 'schedule'
  if (UpdateExpression.includes('= :remaining_bytes')) return 'correct'
  return UpdateExpression.includes(':difference') ? 'setQuota' : 'reschedule'
}

function nameRead(operation: string): string {
  const names: Record<string, string> = { GetItem: 'find', Query: 'list', Scan: 'list' }
  return names[operation] ?? operation
}
