import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { UnreadableItemError } from '../../ledger/ports/unreadable-item.ts'

export type Attributes = Record<string, AttributeValue>

const asItIs = (value: unknown) => value
const toDate = (value: unknown) => new Date(value as string | number)
/** How a member is stored. `date`: ISO 8601, UTC; `ms`: a Date as ms since 1970. */
const KINDS = {
  string: { stored: 'string', from: asItIs, to: asItIs },
  number: { stored: 'number', from: asItIs, to: asItIs },
  true: { stored: 'boolean', from: asItIs, to: asItIs },
  map: { stored: 'object', from: asItIs, to: asItIs },
  date: { stored: 'string', from: toDate, to: (value: unknown) => (value as Date).toISOString() },
  ms: { stored: 'number', from: toDate, to: (value: unknown) => (value as Date).getTime() },
} as const

interface Attribute<Item> {
  member: keyof Item & string
  kind: keyof typeof KINDS
  isOptional?: true
  /** In the entries of lists. */
  isListed?: true
  /** A tombstone keeps it. */
  isKept?: true
}

/** The attributes of an item by their stored names: reading, writing and projections follow from it. */
export type Codec<Item> = Readonly<Record<string, Attribute<Item>>>

/** The part of a codec that has a property. */
export function partOf<Item>(codec: Codec<Item>, property: 'isListed' | 'isKept'): Codec<Item> {
  return Object.fromEntries(Object.entries(codec).filter(([, attribute]) => attribute[property]))
}

/** The stored form, as plain values; what is optional and missing is undefined. */
export function encode<Item extends object>(codec: Codec<Item>, item: Item): Record<string, unknown> {
  const attributes = Object.entries(codec).map(([name, { member, kind }]) => {
    const value = item[member]
    return [name, value === undefined ? undefined : KINDS[kind].to(value)]
  })
  return Object.fromEntries(attributes)
}

/** @throws UnreadableItemError naming the item: an attribute is missing, of another type, or beyond 2^53 */
export function decode<Item extends object>(codec: Codec<Item>, attributes: Attributes): Item {
  const name = nameOf(attributes)
  let stored: Record<string, unknown>
  try {
    stored = unmarshall(attributes)
  } catch (cause) {
    throw new UnreadableItemError(`${name} cannot be read`, { cause })
  }
  return decodeMap(codec, stored, name)
}

/** As {@link decode}, of plain values. @param name for the error */
export function decodeMap<Item extends object>(codec: Codec<Item>, stored: unknown, name: string): Item {
  const item: Record<string, unknown> = {}
  for (const [attribute, { member, kind, isOptional }] of Object.entries(codec)) {
    const value = (stored as Record<string, unknown> | null)?.[attribute]
    if (value === undefined && isOptional) continue
    if (typeof value !== KINDS[kind].stored || value === null) {
      throw new UnreadableItemError(`${name} cannot be read: ${attribute} is not a ${KINDS[kind].stored}`)
    }
    item[member] = KINDS[kind].from(value)
  }
  return item as Item
}

/** For lists, which must not end at an item that cannot be read. @param id its key, by which it is named then */
export function readOrName<Item>(item: Attributes, read: (item: Attributes) => Item, id: AttributeValue | undefined) {
  try {
    return read(item)
  } catch (error) {
    return { id: `${id?.S}`, error }
  }
}

/** By its keys. */
export function nameOf({ workspace_id, document_id }: Attributes): string {
  const ids = Object.entries({ workspace_id, document_id })
  const keys = ids.flatMap(([name, value]) => (value?.S === undefined ? [] : `${name} ${value.S}`))
  return `the item of ${keys.join(', ') || 'no key'}`
}
