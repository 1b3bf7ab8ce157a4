import { createRequire } from 'node:module'
// Its corrections of dynalite apply here, too.
import '../../../infra/local/stores/dynamodb.ts'
import type { IndexDefinition, Item } from './capacity.ts'
import { DynamoDbFailure } from './failures.ts'

/** The description of a table that DynamoDB returns. */
export interface Table {
  TableName: string
  TableArn?: string
  TableStatus?: string
  KeySchema: { AttributeName: string }[]
  AttributeDefinitions: { AttributeName: string; AttributeType: 'S' | 'N' }[]
  GlobalSecondaryIndexes?: (IndexDefinition & { IndexStatus?: string })[]
}

/** A request, or what an answer says. */
export type Content = Record<string, unknown>

type Callback<Value = void> = (error?: unknown, value?: Value) => void

export interface KeyRange {
  gt?: string
  gte?: string
  lt?: string
  lte?: string
  reverse?: boolean
  limit?: number
}

/** One table's items, or one index's entries, as dynalite's operations use them. */
export interface ItemDb {
  lock(key: string, work: (release: (callback: unknown) => unknown) => void): void
  get(key: string, callback: Callback<Item>): void
  put(key: string, item: Item, callback: Callback): void
  del(key: string, callback: Callback): void
  createValueStream(range: KeyRange): NodeJS.ReadableStream
}

/** dynalite's operations ask this of the place where everything is kept. */
export interface Store {
  options: { maxItemSize: number }
  getTable(name: string, ...rest: [Callback<Table>] | [boolean, Callback<Table>]): void
  getItemDb(table: string): ItemDb
  getIndexDb(kind: string, table: string, index: string): ItemDb
}

type Action = (store: Store, data: Content, callback: Callback<Content>) => void

const require = createRequire(import.meta.url)
const { checkTypes, checkValidations } = require('dynalite/validations/index.js') as {
  checkTypes(data: Content, types: object): Content
  checkValidations(data: Content, types: object, custom: object | undefined, store: Store): void
}

/** The texts that a table's items, and an index's entries, are kept and sorted by. */
export const { createKey, createIndexKey } = require('dynalite/db/index.js') as {
  createKey(keys: Item, table: Table): string
  createIndexKey(item: Item, table: Table, keySchema: IndexDefinition['KeySchema']): string
}

interface Operation {
  types: object
  custom: object | undefined
  act: Action
}

/** Requiring them for every call would take longer than a small write. */
const operations = new Map<string, Operation>()

function operationOf(name: string): Operation {
  const file = `${name.charAt(0).toLowerCase()}${name.slice(1)}.js`
  const operation = operations.get(name) ?? {
    ...require(`dynalite/validations/${file}`),
    act: require(`dynalite/actions/${file}`),
  }
  operations.set(name, operation)
  return operation
}

/** Checks a request as DynamoDB would; its expressions are parsed on the way. @throws DynamoDbFailure */
export function validate(operation: string, input: Content, store: Store): Content {
  const { types, custom } = operationOf(operation)
  try {
    const data = checkTypes({ ...input }, types)
    checkValidations(data, types, custom, store)
    return data
  } catch (error) {
    throw toFailure(error)
  }
}

/** Runs an operation of dynalite on a store. Single items are read and written before it returns. */
export function perform(
  operation: string,
  data: Content,
  store: Store,
): { answer?: Content; failure?: unknown; ended: Promise<Content> } {
  const outcome: { answer?: Content; failure?: unknown } = {}
  const ended = Promise.withResolvers<Content>()
  // A caller that needs the outcome at once need not handle the promise.
  ended.promise.catch(() => {})
  operationOf(operation).act(store, data, (error, answer = {}) => {
    if (error) {
      outcome.failure = toFailure(error)
      ended.reject(outcome.failure)
    } else {
      outcome.answer = answer
      ended.resolve(answer)
    }
  })
  return { ...outcome, ended: ended.promise }
}

function toFailure(error: unknown): unknown {
  const { statusCode, body } = error as Partial<DynamoDbFailure>
  return statusCode === undefined || body === undefined ? error : new DynamoDbFailure(statusCode, body)
}
