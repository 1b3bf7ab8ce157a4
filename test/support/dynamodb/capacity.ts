import type { AttributeValue } from '@aws-sdk/client-dynamodb'

/** An item as it goes over the wire: binary values in base64. */
export type Item = Record<string, AttributeValue>

export interface IndexDefinition {
  IndexName?: string | undefined
  KeySchema?: { AttributeName: string | undefined }[] | undefined
  Projection?: { ProjectionType?: string | undefined; NonKeyAttributes?: string[] | undefined } | undefined
}

const WRITE_UNIT_BYTES = 1024
const READ_UNIT_BYTES = 4096
/** A list or a map takes so much, whatever is in it. */
const CONTAINER_BYTES = 3
const ELEMENT_BYTES = 1

/**
 * Bytes of an item as DynamoDB counts them: names and values of its attributes. Source: Amazon DynamoDB developer guide,
 * "DynamoDB item sizes and formats" (CapacityUnitCalculations.html). Of numbers AWS says "approximately".
 */
export function itemSizeBytes(item: Item | undefined): number {
  // dynalite's projections have what an item lacks, as undefined.
  const attributes = Object.entries(item ?? {}).filter(([, value]) => value !== undefined)
  return attributes.reduce((bytes, [name, value]) => bytes + Buffer.byteLength(name) + valueBytes(value), 0)
}

function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S)
  if (value.N !== undefined) return numberBytes(value.N)
  if (value.BOOL !== undefined || value.NULL !== undefined) return 1
  if (value.L !== undefined)
    return value.L.reduce((bytes, each) => bytes + ELEMENT_BYTES + valueBytes(each), CONTAINER_BYTES)
  if (value.M !== undefined) {
    return CONTAINER_BYTES + ELEMENT_BYTES * Object.keys(value.M).length + itemSizeBytes(value.M)
  }
  throw new Error(`no rule for the size of a value of type ${Object.keys(value)}`)
}

/** A byte for each two significant digits, and one more; another for the sign. */
function numberBytes(number: string): number {
  const [mantissa = ''] = number.toLowerCase().split('e')
  const digits = mantissa.replace(/[-+.]/g, '').replace(/^0+|0+$/g, '')
  return Math.ceil(digits.length / 2) + 1 + (number.startsWith('-') ? 1 : 0)
}

/** A write costs one unit for each started KB of the larger item, even if its condition failed. */
export function writeUnits(before: Item | undefined, after: Item | undefined): number {
  return unitsOf(Math.max(itemSizeBytes(before), itemSizeBytes(after)), WRITE_UNIT_BYTES)
}

/** One unit for each started 4 KB, half of it if the read is not consistent; a read of nothing costs the least. */
export function readUnits(sizeBytes: number, isConsistent: boolean): number {
  return unitsOf(sizeBytes, READ_UNIT_BYTES) / (isConsistent ? 1 : 2)
}

function unitsOf(sizeBytes: number, unitBytes: number): number {
  return Math.max(1, Math.ceil(sizeBytes / unitBytes))
}

/**
 * A write of an item costs this in one of its table's indexes: nothing as long as neither an index key nor a projected
 * attribute changes, two writes when the key does. Source: same guide, "Write considerations" of global secondary indexes.
 */
export function indexWriteUnits(
  index: IndexDefinition,
  tableKeys: readonly string[],
  before: Item | undefined,
  after: Item | undefined,
): number {
  const keys = (index.KeySchema ?? []).map(({ AttributeName }) => String(AttributeName))
  const project = (item: Item | undefined) => entryOf(index, [...keys, ...tableKeys], keys, item)
  const [old, next] = [project(before), project(after)]
  if (isSame(old, next)) return 0
  if (old === undefined || next === undefined) return writeUnits(old, next)
  const isMoved = !keys.every((key) => isSame(old[key], next[key]))
  return isMoved ? writeUnits(old, undefined) + writeUnits(undefined, next) : writeUnits(old, next)
}

/** The item's entry in the index; undefined where it lacks one of the index's keys. */
function entryOf(
  { Projection }: IndexDefinition,
  allKeys: readonly string[],
  indexKeys: readonly string[],
  item: Item | undefined,
): Item | undefined {
  if (item === undefined || indexKeys.some((key) => item[key] === undefined)) return undefined
  if (Projection?.ProjectionType === 'ALL') return item
  const projected = new Set([...allKeys, ...(Projection?.NonKeyAttributes ?? [])])
  return Object.fromEntries(Object.entries(item).filter(([name]) => projected.has(name)))
}

function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other)
}

/** JSON with sorted names, as DynamoDB's items have no order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each) =>
    each !== null && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
}
