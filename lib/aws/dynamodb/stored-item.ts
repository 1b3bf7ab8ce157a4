import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { type OnUnreadable, UnreadableItemError } from '../../ledger/ports/unreadable-item.ts'

export type Attributes = Record<string, AttributeValue>
type Kinds<Item> = { readonly [Name in keyof Item]?: 'string' | 'number' }

/** @throws UnreadableItemError naming the item: a required attribute is missing, of another type, or beyond 2^53 */
export function readItem<Item extends object>(
  attributes: Attributes,
  required: Kinds<Item>,
  keyNames: readonly string[],
): Item {
  const name = `the item of ${keyNames.map((keyName) => `${keyName} ${attributes[keyName]?.S ?? '?'}`).join(', ')}`
  let item: unknown
  try {
    item = unmarshall(attributes)
  } catch (cause) {
    throw new UnreadableItemError(`${name} cannot be read`, { cause })
  }
  return requireKinds<Item>(item, required, name)
}

/**
 * Checks the elements of a map attribute as {@link readItem} does the item.
 * @throws UnreadableItemError
 */
export function readMap<Element extends object>(
  map: Record<string, Element>,
  required: Kinds<Element>,
  name: string,
): [id: string, element: Element][] {
  return Object.entries(requireKinds<typeof map>(map, {}, name)).map(([id, element]) => [
    id,
    requireKinds<Element>(element, required, `${name}, ${id},`),
  ])
}

function requireKinds<Item extends object>(item: unknown, required: Kinds<Item>, name: string): Item {
  if (typeof item !== 'object' || item === null)
    throw new UnreadableItemError(`${name} cannot be read: it is not a map`)
  for (const [attribute, kind] of Object.entries(required)) {
    const value = (item as Record<string, unknown>)[attribute]
    if (typeof value !== kind) {
      throw new UnreadableItemError(`${name} cannot be read: ${attribute} is not a ${kind}`)
    }
  }
  return item as Item
}

/** @param onUnreadable gets the items that cannot be read; omitted: they throw */
export function* readItems<Item>(
  items: Attributes[],
  read: (attributes: Attributes) => Item,
  onUnreadable: OnUnreadable | undefined,
): Generator<Item> {
  for (const attributes of items) {
    let item: Item
    try {
      item = read(attributes)
    } catch (error) {
      if (onUnreadable === undefined || !(error instanceof UnreadableItemError)) throw error
      onUnreadable(error)
      continue
    }
    yield item
  }
}
