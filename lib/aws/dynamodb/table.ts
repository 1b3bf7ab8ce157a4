import {
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  type GetItemCommandInput,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  type ScanCommandInput,
  type ScanCommandOutput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import pMap from 'p-map'
import { ServiceError } from '../../errors.ts'
import { pause, pauseAfter, type SendOptions, send } from '../calls/send.ts'
import type { Attributes } from './codec.ts'

export interface Table {
  client: DynamoDBClient
  tableName: string
}

/** `item`: if the condition failed, as it was found; otherwise as it is after the write, if an update asks for it. */
interface Written {
  applied: boolean
  item: Attributes | undefined
}

interface Condition {
  ConditionExpression?: string
  values?: object | undefined
}

export type Update = Condition &
  Pick<UpdateItemCommandInput, 'UpdateExpression' | 'ExpressionAttributeNames' | 'ReturnValues'>

type Reading = Pick<GetItemCommandInput, 'ConsistentRead' | 'ProjectionExpression'>
type Query = Omit<QueryCommandInput, 'TableName'> & { values: object }
type Scan = Omit<ScanCommandInput, 'TableName'>
type Page = Pick<ScanCommandOutput, 'Items' | 'LastEvaluatedKey'>
type From = { after?: object | undefined; Limit?: number }

/** Tries of one BatchGetItem: DynamoDB leaves out what exceeds 16 MB and what it throttles. */
const MAX_BATCH_TRIES = 4
const REMOVALS_AT_ONCE = 24
const WITHOUT_UNDEFINED = { removeUndefinedValues: true }

// These are functions, so that a bundle has only those that are called. Keys, items and values are plain objects.

/** Reads consistently, unless the caller asks otherwise. */
export async function getItem(table: Table, key: object, options: SendOptions, read: Reading = {}) {
  const command = new GetItemCommand({ TableName: table.tableName, Key: marshall(key), ConsistentRead: true, ...read })
  return (await send(table.client, command, options)).Item
}

/** Reads up to a hundred different items consistently, and returns those that are there, in no order. */
export async function getItems(table: Table, keys: object[], options: SendOptions, read: Reading = {}) {
  const { client, tableName } = table
  const found: Attributes[] = []
  let left = keys.map((key) => marshall(key))
  for (let tries = 0; tries < MAX_BATCH_TRIES && left.length > 0; tries++) {
    if (tries > 0) await pause(pauseAfter(tries), options.signal)
    const RequestItems = { [tableName]: { ConsistentRead: true, ...read, Keys: left } }
    const answer = await send(client, new BatchGetItemCommand({ RequestItems }), options)
    found.push(...(answer.Responses?.[tableName] ?? []))
    left = answer.UnprocessedKeys?.[tableName]?.Keys ?? []
  }
  if (left.length > 0) throw new ServiceError('service_unavailable', { cause: new Error('keys left unprocessed') })
  return found
}

export function putItem(table: Table, item: object, options: SendOptions, condition: Condition = {}) {
  const stored = { TableName: table.tableName, Item: marshall(item, WITHOUT_UNDEFINED) }
  return written(send(table.client, new PutItemCommand({ ...stored, ...conditional(condition) }), options))
}

export const updateOf = (table: Table, key: object, change: Update) =>
  new UpdateItemCommand({ TableName: table.tableName, Key: marshall(key), ...conditional(change) })

export function updateItem(table: Table, key: object, change: Update, options: SendOptions) {
  return written(send(table.client, updateOf(table, key, change), options))
}

export function removeItem(table: Table, key: object, condition: Condition, options: SendOptions) {
  const command = new DeleteItemCommand({ TableName: table.tableName, Key: marshall(key), ...conditional(condition) })
  return written(send(table.client, command, options))
}

/** May be repeated: what is gone is fine. */
export async function removeItems(table: Table, keys: object[], options: SendOptions) {
  await pMap(keys, (key) => removeItem(table, key, {}, options), { concurrency: REMOVALS_AT_ONCE })
}

/** In pages. */
export function query({ client, tableName: TableName }: Table, options: SendOptions, query: Query) {
  const { values, ...input } = query
  const wanted = { TableName, ...input, ExpressionAttributeValues: marshall(values) }
  return listPages((start) => send(client, new QueryCommand({ ...wanted, ...start }), options))
}

/** All items of a partition, given by its key, read consistently, in pages. @param from.after a key: starts after it */
export function pagesOf(table: Table, partition: object, options: SendOptions, from: From = {}) {
  const { after, ...limit } = from
  const { condition: KeyConditionExpression, ...key } = asRead(partition)
  const start = after && { ExclusiveStartKey: marshall(after) }
  return query(table, options, { ConsistentRead: true, KeyConditionExpression, ...key, ...limit, ...start })
}

/** All items, read consistently, in pages. */
export function scan({ client, tableName: TableName }: Table, options: SendOptions, input: Scan = {}) {
  const wanted = { TableName, ConsistentRead: true, ...input }
  return listPages((start) => send(client, new ScanCommand({ ...wanted, ...start }), options))
}

/** @param readPage gets the start of the page, to be spread into the command */
async function* listPages(readPage: (start: { ExclusiveStartKey?: Attributes }) => Promise<Page>) {
  let start: { ExclusiveStartKey?: Attributes } | undefined = {}
  while (start) {
    const { Items = [], LastEvaluatedKey }: Page = await readPage(start)
    yield Items
    start = LastEvaluatedKey && { ExclusiveStartKey: LastEvaluatedKey }
  }
}

const conditional = <Change extends Condition>({ values, ...expressions }: Change) => ({
  ...expressions,
  ...(values && Object.keys(values).length > 0 && { ExpressionAttributeValues: marshall(values, WITHOUT_UNDEFINED) }),
  ...(expressions.ConditionExpression && { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }),
})

/** Sets these attributes, and removes those that are undefined. Names are replaced, as some are reserved words. */
export function setting(attributes: object, alsoSet: readonly string[] = []) {
  const set = [...alsoSet]
  const removed: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) removed.push(`#${name}`)
    else {
      set.push(`#${name} = :${name}`)
      values[`:${name}`] = value
    }
  }
  const clauses = [set.length > 0 && `SET ${set.join(', ')}`, removed.length > 0 && `REMOVE ${removed.join(', ')}`]
  return { UpdateExpression: clauses.filter(Boolean).join(' '), ExpressionAttributeNames: namesOf(attributes), values }
}

/** Sets these attributes if the condition holds, and `shown` are as they were read. */
export function settingIfAsRead(shown: object, attributes: object, condition: string, alsoSet?: string[]) {
  const { condition: isAsRead, ...read } = asRead(shown)
  const change = setting(attributes, alsoSet)
  return {
    UpdateExpression: change.UpdateExpression,
    ConditionExpression: [condition, isAsRead].filter(Boolean).join(' AND '),
    ExpressionAttributeNames: { ...change.ExpressionAttributeNames, ...read.ExpressionAttributeNames },
    values: { ...change.values, ...read.values },
  }
}

/** The condition that these attributes are as they were read; undefined: not there. */
export function asRead(attributes: object) {
  const all = Object.entries(attributes)
  const isAsRead = ([name, value]: [string, unknown]) =>
    value === undefined ? `attribute_not_exists(#${name})` : `#${name} = :read_${name}`
  return {
    condition: all.map(isAsRead).join(' AND '),
    ExpressionAttributeNames: namesOf(attributes),
    values: Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[`:read_${name}`, value]]))),
  }
}

const namesOf = (attributes: object) => Object.fromEntries(Object.keys(attributes).map((name) => [`#${name}`, name]))

/** A condition that does not hold is an outcome here, not an error. Other errors are rethrown. */
export async function written(write: Promise<{ Attributes?: Attributes | undefined }>): Promise<Written> {
  try {
    return { applied: true, item: (await write).Attributes }
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return { applied: false, item: error.Item }
    throw error
  }
}
