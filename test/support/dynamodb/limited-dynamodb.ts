import { type Item, indexWriteUnits, itemSizeBytes, readUnits, writeUnits } from './capacity.ts'
import { type Content, createKey, perform, type Table, validate } from './dynalite.ts'
import { DynamoDbFailure, exception, resourceNotFound, throttled } from './failures.ts'
import { createSpaces, openStoreAsOf, type Spaces } from './store-as-of.ts'
import { createThroughput, DYNAMODB_LIMITS, type ThroughputLimits } from './throughput.ts'

/** The cost of a call. For a throttled one, what it lacked: it costs nothing. */
export interface Consumption {
  operation: string
  table: string
  input: Content
  /** Read or write units, whichever the operation needs, including those of indexes. */
  units: number
  outcome: 'done' | 'condition_failed' | 'throttled'
}

export interface LimitedDynamoDbOptions {
  /** ms, of any clock that does not go back. */
  now(): number
  /** The limits of each item. */
  limits?: ThroughputLimits
  /** Reads that are not strongly consistent, and indexes, answer with what was true this long ago. */
  staleMs: number
  /** Called for every call. */
  onCall?(consumption: Consumption): void
}

export type LimitedDynamoDb = ReturnType<typeof createLimitedDynamoDb>

/**
 * DynamoDB in memory: dynalite's own rules for requests, conditions and updates, on a store of ours that has what dynalite
 * lacks: the throughput of each item, and the past that a read may show unless it is strongly consistent. A write is
 * admitted when all its units are available, in its item's bucket and in those of the index entries it changes.
 *
 * Queries and scans are not limited: they are only counted, by the size of the items they went through.
 */
export function createLimitedDynamoDb(options: LimitedDynamoDbOptions) {
  const { now, staleMs, onCall = () => {} } = options
  const throughput = createThroughput(options.limits ?? DYNAMODB_LIMITS, now)
  let spaces = createSpaces(staleMs)

  return {
    /** @throws DynamoDbFailure */
    async execute(operation: string, input: Content): Promise<Content> {
      if (operation === 'CreateTable') return createTable(input)
      if (operation === 'BatchGetItem') return batchGetItem(input)
      const table = spaces.tables.get(String(input.TableName))
      if (table === undefined) throw resourceNotFound()
      switch (operation) {
        case 'DescribeTable':
          return { Table: table }
        case 'PutItem':
        case 'UpdateItem':
        case 'DeleteItem':
          return write(operation, input, table)
        case 'GetItem':
          return getItem(input, table)
        case 'Query':
        case 'Scan':
          return list(operation, input, table)
        default:
          throw new DynamoDbFailure(400, { __type: 'com.amazon.coral.service#UnknownOperationException' })
      }
    },
    /** All tables and items as they are now. */
    snapshot: () => spaces.copy(),
    restore(snapshot: Spaces): void {
      spaces = snapshot.copy()
    },
  }

  function createTable(input: Content): Content {
    const data = validate('CreateTable', input, openStoreAsOf(spaces, now()).store) as Content & Table
    if (spaces.tables.has(data.TableName))
      throw exception('ResourceInUseException', `Table already exists: ${data.TableName}`)
    const table: Table = {
      ...data,
      TableArn: `arn:aws:dynamodb:us-east-1:000000000000:table/${data.TableName}`,
      TableStatus: 'ACTIVE',
      ...(data.GlobalSecondaryIndexes && {
        GlobalSecondaryIndexes: data.GlobalSecondaryIndexes.map((index) => ({ ...index, IndexStatus: 'ACTIVE' })),
      }),
    }
    spaces.tables.set(data.TableName, table)
    return { TableDescription: table }
  }

  function write(operation: string, input: Content, table: Table): Content {
    const nowMs = now()
    const keys = (input.Item ?? input.Key) as Item
    const bucket = bucketOf(table, keys)
    const spend = (units: number, outcome: Consumption['outcome']) =>
      onCall({ operation, table: table.TableName, input, units, outcome })
    const throttle = (units: number, indexName?: string): DynamoDbFailure => {
      spend(units, 'throttled')
      return throttled(table, 'Write', indexName)
    }
    // Without a complete key the request is invalid, and dynalite will say so.
    const before = bucket === undefined ? undefined : spaces.of(table.TableName).get(createKey(keys, table), nowMs)
    // The least it can cost: a write that cannot pay even this needs no closer look.
    const leastUnits = writeUnits(before, undefined)
    if (bucket !== undefined && !throughput.has('write', bucket, leastUnits)) throw throttle(leastUnits)

    const { store, staged } = openStoreAsOf(spaces, nowMs)
    const { answer = {}, failure } = perform(operation, validate(operation, input, store), store)
    if (failure instanceof DynamoDbFailure && failure.is('ConditionalCheckFailedException')) {
      throughput.take('write', String(bucket), leastUnits)
      spend(leastUnits, 'condition_failed')
    }
    if (failure) throw failure

    const after = staged.find(({ space }) => space === spaces.of(table.TableName))?.item
    const places = [
      { bucket: String(bucket), indexName: undefined, units: writeUnits(before, after) },
      ...indexPlaces(table, before, after),
    ]
    const units = places.reduce((total, place) => total + place.units, 0)
    const full = places.find((place) => !throughput.has('write', place.bucket, place.units))
    if (full) throw throttle(units, full.indexName)
    for (const place of places) throughput.take('write', place.bucket, place.units)
    for (const { space, key, item } of staged) space.set(key, item, nowMs)
    spend(units, 'done')
    return answer
  }

  function getItem(input: Content, table: Table): Content {
    const nowMs = now()
    const isConsistent = input.ConsistentRead === true
    const { store } = openStoreAsOf(spaces, isConsistent ? nowMs : nowMs - staleMs)
    const { answer = {}, failure } = perform('GetItem', validate('GetItem', input, store), store)
    if (failure) throw failure
    const keys = input.Key as Item
    const stored = spaces.of(table.TableName).get(createKey(keys, table), nowMs)
    const units = readUnits(itemSizeBytes(stored), isConsistent)
    const isAdmitted = throughput.take('read', String(bucketOf(table, keys)), units)
    const outcome = isAdmitted ? 'done' : 'throttled'
    onCall({ operation: 'GetItem', table: table.TableName, input, units, outcome })
    if (!isAdmitted) throw throttled(table, 'Read', undefined)
    return answer
  }

  /** Each item is a read of its own; those that are throttled are left unprocessed. */
  function batchGetItem(input: Content): Content {
    // No more than 100 keys, and none of them twice.
    const { RequestItems } = validate('BatchGetItem', input, openStoreAsOf(spaces, now()).store)
    const answer: Record<'Responses' | 'UnprocessedKeys', Content> = { Responses: {}, UnprocessedKeys: {} }
    for (const [TableName, { Keys, ...read }] of Object.entries(RequestItems as Record<string, { Keys: Item[] }>)) {
      const table = spaces.tables.get(TableName)
      if (table === undefined) throw resourceNotFound()
      const unprocessed: Item[] = []
      const items = Keys.flatMap((Key) => {
        try {
          return getItem({ TableName, Key, ...read }, table).Item ?? []
        } catch (error) {
          if (!(error instanceof DynamoDbFailure) || !error.is('ThrottlingException')) throw error
          unprocessed.push(Key)
          return []
        }
      })
      answer.Responses[TableName] = items
      if (unprocessed.length > 0) answer.UnprocessedKeys[TableName] = { ...read, Keys: unprocessed }
    }
    return answer
  }

  async function list(operation: 'Query' | 'Scan', input: Content, table: Table): Promise<Content> {
    const isConsistent = input.ConsistentRead === true
    const { store, delivered } = openStoreAsOf(spaces, isConsistent ? now() : now() - staleMs)
    const answer = await perform(operation, validate(operation, input, store), store).ended
    const seen = delivered.slice(0, Number(answer.ScannedCount))
    const sizeBytes = seen.reduce((bytes, item) => bytes + itemSizeBytes(item), 0)
    onCall({ operation, table: table.TableName, input, units: readUnits(sizeBytes, isConsistent), outcome: 'done' })
    return answer
  }
}

/** undefined if the key is incomplete, or of another type. */
function bucketOf({ TableName, KeySchema, AttributeDefinitions }: Table, keys: Item | undefined): string | undefined {
  const values = KeySchema.map(({ AttributeName }) => {
    const type = AttributeDefinitions.find((each) => each.AttributeName === AttributeName)?.AttributeType
    return type && keys?.[AttributeName]?.[type]
  })
  return values.includes(undefined) ? undefined : `${TableName}/${values.join('/')}`
}

/** Where a write of the item goes in the table's indexes: entries with the same hash key are one place. */
function indexPlaces(table: Table, before: Item | undefined, after: Item | undefined) {
  const tableKeys = table.KeySchema.map(({ AttributeName }) => AttributeName)
  return (table.GlobalSecondaryIndexes ?? []).flatMap((index) => {
    const units = indexWriteUnits(index, tableKeys, before, after)
    const hashKey = String(index.KeySchema?.[0]?.AttributeName)
    const place = after?.[hashKey] ?? before?.[hashKey]
    const indexName = String(index.IndexName)
    return units === 0 ? [] : [{ bucket: `${table.TableName}/${indexName}/${place?.S ?? place?.N}`, indexName, units }]
  })
}
