import type { IncomingMessage } from 'node:http'

interface DynamoDbInput {
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
  if (UpdateExpression.includes('retired_by = ')) return 'retire'
  if (UpdateExpression.includes('fenced_through = ')) return 'fence'
  if (UpdateExpression.includes('expires_at = ')) return 'finish'
  return nameRead(operation)
}

function nameReservationsCall(operation: string, { Item, Key }: DynamoDbInput): string {
  const isWatch = Key?.reservation_id?.S.startsWith('late_copy_')
  const openings: Record<string, string> = { promotion: 'open', fence: 'forestall', late_copy: 'watch' }
  if (operation === 'PutItem') return openings[Item?.purpose?.S ?? ''] ?? operation
  if (operation === 'UpdateItem') return 'close'
  if (operation === 'DeleteItem') return isWatch ? 'removeWatch' : 'remove'
  return nameRead(operation)
}

function nameLedgerCall(operation: string, { IndexName, UpdateExpression }: DynamoDbInput): string {
  if (IndexName !== undefined) return 'listDue'
  if (operation === 'GetItem') return 'read'
  if (operation === 'PutItem') return 'createWorkspace'
  if (UpdateExpression === undefined) return nameRead(operation)
  if (UpdateExpression.includes('if_not_exists(takings')) return 'completeWorkspace'
  if (UpdateExpression.includes('remaining_bytes - ')) return 'take'
  if (UpdateExpression.includes('remaining_bytes + #markers')) return 'release'
  if (UpdateExpression.includes('#marker = :marker')) return 'mark'
  if (UpdateExpression.startsWith('REMOVE #markers')) return 'unmark'
  if (UpdateExpression.includes('= :remaining_bytes')) return 'correct'
  return UpdateExpression.includes(':difference') ? 'setQuota' : 'reschedule'
}

function nameRead(operation: string): string {
  const names: Record<string, string> = { GetItem: 'find', Query: 'list', Scan: 'list' }
  return names[operation] ?? operation
}
