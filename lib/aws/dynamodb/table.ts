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
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import pMap from 'p-map'
import { ServiceError } from '../../errors.ts'
import { pause, pauseAfter, type SendOptions, send } from '../calls/send.ts'
import type { Attributes } from './codec.ts'

export interface TableSettings {
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

/** Tries of one BatchGetItem: DynamoDB leaves out what exceeds 16 MB and what it throttles. */
const MAX_BATCH_TRIES = 4
const REMOVALS_AT_ONCE = 24
const WITHOUT_UNDEFINED = { removeUndefinedValues: true }

/** Reads and updates of single items. Most functions need no more of a table, which keeps their bundles small. */
export function openItems({ client, tableName: TableName }: TableSettings) {
  const updateOf = (key: object, change: Update) =>
    new UpdateItemCommand({ TableName, Key: marshall(key), ...conditional(change) })

  return {
    updateOf,

    /** Reads consistently, unless the caller asks otherwise. */
    async get(key: object, options: SendOptions, read: Reading = {}) {
      const command = new GetItemCommand({ TableName, Key: marshall(key), ConsistentRead: true, ...read })
      return (await send(client, command, options)).Item
    },

    update(key: object, change: Update, options: SendOptions): Promise<Written> {
      return written(send(client, updateOf(key, change), options))
    },
  }
}

/** The calls of one table. Keys, items and values are plain objects. */
export function openTable(settings: TableSettings) {
  const { client, tableName: TableName } = settings
  return {
    ...openItems(settings),

    /** Reads up to a hundred different items consistently, and returns those that are there, in no order. */
    async getAll(keys: readonly object[], options: SendOptions, read: Omit<Reading, 'ConsistentRead'> = {}) {
      const found: Attributes[] = []
      let left = keys.map((key) => marshall(key))
      for (let tries = 0; tries < MAX_BATCH_TRIES && left.length > 0; tries++) {
        if (tries > 0) await pause(pauseAfter(tries), options.signal)
        const RequestItems = { [TableName]: { ConsistentRead: true, ...read, Keys: left } }
        const answer = await send(client, new BatchGetItemCommand({ RequestItems }), options)
        found.push(...(answer.Responses?.[TableName] ?? []))
        left = answer.UnprocessedKeys?.[TableName]?.Keys ?? []
      }
      if (left.length > 0) throw new ServiceError('service_unavailable', { cause: new Error('keys left unprocessed') })
      return found
    },

    put(item: object, options: SendOptions, condition: Condition = {}): Promise<Written> {
      const Item = marshall(item, WITHOUT_UNDEFINED)
      return written(send(client, new PutItemCommand({ TableName, Item, ...conditional(condition) }), options))
    },

    remove(key: object, condition: Condition, options: SendOptions): Promise<Written> {
      const command = new DeleteItemCommand({ TableName, Key: marshall(key), ...conditional(condition) })
      return written(send(client, command, options))
    },
  }
}

/** A table of which more than single items are read. Few functions need that. */
export function openListedTable(settings: TableSettings) {
  const { client, tableName: TableName } = settings
  const table = openTable(settings)
  return {
    ...table,

    query,

    /** May be repeated: what is gone is fine. */
    async removeAll(keys: readonly object[], options: SendOptions) {
      await pMap(keys, (key) => table.remove(key, {}, options), { concurrency: REMOVALS_AT_ONCE })
    },

    /** All items of a partition, read consistently, in pages. @param from.after a key: starts after it */
    pagesOf(
      partitionKey: string,
      value: string,
      options: SendOptions,
      { after, ...limit }: { after?: object | undefined; Limit?: number } = {},
    ) {
      const start = after && { ExclusiveStartKey: marshall(after) }
      const partition = { KeyConditionExpression: `${partitionKey} = :value`, values: { ':value': value } }
      return query(options, { ConsistentRead: true, ...partition, ...limit, ...start })
    },

    /** All items, read consistently, in pages. */
    scan(options: SendOptions, input: Omit<ScanCommandInput, 'TableName'> = {}) {
      const scan = { TableName, ConsistentRead: true, ...input }
      return listPages((start) => send(client, new ScanCommand({ ...scan, ...start }), options))
    },
  }

  /** In pages. */
  function query(
    options: SendOptions,
    { values, ...input }: Omit<QueryCommandInput, 'TableName'> & { values: object },
  ) {
    const wanted = { TableName, ...input, ExpressionAttributeValues: marshall(values) }
    return listPages((start) => send(client, new QueryCommand({ ...wanted, ...start }), options))
  }
}

interface Page {
  Items?: Attributes[] | undefined
  LastEvaluatedKey?: Attributes | undefined
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
