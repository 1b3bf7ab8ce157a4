export interface Tables {
  workspaces: string
  reservations: string
  documents: string
}

export interface Key {
  workspace_id?: { S: string }
  document_id?: { S: string }
  reservation_id?: { S: string }
}

export interface ReadInput {
  TableName: string
  IndexName?: string
  Key?: Key
  ExclusiveStartKey?: Key
  ExpressionAttributeValues?: Record<string, { S: string }>
  ConsistentRead?: boolean
  ProjectionExpression?: string
  Limit?: number
  Segment?: number
  TotalSegments?: number
  ReturnConsumedCapacity?: string
}

export const idInQuery = ({ ExpressionAttributeValues = {} }: ReadInput) =>
  ExpressionAttributeValues[':workspace_id']?.S ?? ''

/** What an answer tells of it, where it is asked for. */
export function capacity(units: number, { TableName, ReturnConsumedCapacity }: ReadInput) {
  const isAsked = ReturnConsumedCapacity !== undefined && ReturnConsumedCapacity !== 'NONE'
  return isAsked ? { ConsumedCapacity: { TableName, CapacityUnits: units } } : {}
}
