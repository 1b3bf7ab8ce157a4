import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { UnreadableItemError } from '../errors.ts'

export type Attributes = Record<string, AttributeValue>
type Kind = 'string' | 'number' | 'object'

/**
 * Reads an item, and checks the attributes that must be there.
 * @throws UnreadableItemError naming the item: an attribute is missing, of another type, or a number beyond 2^53
 */
export function readItem<Item extends object>(
  attributes: Attributes,
  required: { readonly [Name in keyof Item]?: Kind },
  keyNames: readonly string[],
): Item {
  const named = () => keyNames.map((name) => `${name} ${attributes[name]?.S ?? '?'}`).join(', ')
  let item: Record<string, unknown>
  try {
    item = unmarshall(attributes)
  } catch (cause) {
    throw new UnreadableItemError(`the item of ${named()} cannot be read`, { cause })
  }
  for (const [name, kind] of Object.entries(required)) {
    if (typeof item[name] !== kind || item[name] === null) {
      throw new UnreadableItemError(`the item of ${named()} cannot be read: ${name} is not a ${kind}`)
    }
  }
  return item as Item
}

/** Reads the items of a listing. @param onUnreadable called for those that cannot be read; left out, they are thrown */
export function* readItems<Item>(
  items: Attributes[],
  read: (attributes: Attributes) => Item,
  onUnreadable: ((error: Error) => void) | undefined,
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
