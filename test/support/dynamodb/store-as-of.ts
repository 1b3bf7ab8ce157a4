import { Readable } from 'node:stream'
import type { Item } from './capacity.ts'
import type { ItemDb, Store, Table } from './dynalite.ts'
import { resourceNotFound } from './failures.ts'
import { createItemSpace, type ItemSpace } from './item-space.ts'

export interface Spaces {
  tables: Map<string, Table>
  /** The items of a table, or those of an index of it. */
  of(table: string, index?: string): ItemSpace
  /** A copy that later changes do not affect. */
  copy(): Spaces
}

/** A store as it was at some time, for one operation, and what that operation does to it. */
interface StoreAsOf {
  store: Store
  /** A list was given these, in order; it may have gone through less. */
  delivered: Item[]
  /** The changes of a write; the caller applies them. */
  staged: { space: ItemSpace; key: string; item: Item | undefined }[]
}

/** DynamoDB's limit. */
const MAX_ITEM_BYTES = 400 * 1024
const NOT_FOUND = Object.assign(new Error('no such item'), { name: 'NotFoundError' })

/** @param keptMs how far back the spaces can be read */
export function createSpaces(
  keptMs: number,
  spaces = new Map<string, ItemSpace>(),
  tables: Spaces['tables'] = new Map(),
): Spaces {
  return {
    tables,
    of(table, index) {
      const name = index === undefined ? table : `${table}/${index}`
      const space = spaces.get(name) ?? createItemSpace(keptMs)
      spaces.set(name, space)
      return space
    },
    copy() {
      const copies = [...spaces].map(([name, space]) => [name, space.copy()] as const)
      return createSpaces(keptMs, new Map(copies), new Map(tables))
    },
  }
}

export function openStoreAsOf(spaces: Spaces, asOfMs: number): StoreAsOf {
  const delivered: Item[] = []
  const staged: StoreAsOf['staged'] = []
  const open = (space: ItemSpace): ItemDb => ({
    // No lock is needed, as nothing else runs meanwhile.
    lock: (_, work) => work((callback) => callback),
    get(key, callback) {
      const item = space.get(key, asOfMs)
      if (item === undefined) callback(NOT_FOUND)
      else callback(null, item)
    },
    put(key, item, callback) {
      // dynalite projects what an item lacks into an index as undefined, which no database stores.
      const attributes = Object.entries(item).filter(([, value]) => value !== undefined)
      staged.push({ space, key, item: Object.fromEntries(attributes) })
      callback()
    },
    del(key, callback) {
      staged.push({ space, key, item: undefined })
      callback()
    },
    createValueStream(range) {
      const items = space.list(range, asOfMs)
      delivered.push(...items)
      return Readable.from(items)
    },
  })
  const store: Store = {
    options: { maxItemSize: MAX_ITEM_BYTES },
    getTable(name, ...rest) {
      const callback = rest.length === 1 ? rest[0] : rest[1]
      const table = spaces.tables.get(name)
      if (table === undefined) callback(resourceNotFound())
      else callback(null, table)
    },
    getItemDb: (table) => open(spaces.of(table)),
    getIndexDb: (_, table, index) => open(spaces.of(table, index)),
  }
  return { store, delivered, staged }
}
