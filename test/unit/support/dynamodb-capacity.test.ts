import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it } from 'vitest'
import {
  type IndexDefinition,
  indexWriteUnits,
  itemSizeBytes,
  readUnits,
  writeUnits,
} from '../../support/dynamodb/capacity.ts'

const NAME = 'a'.length
const CONTAINER = 3

it.each([
  ['text in bytes of UTF-8, not in characters', { a: 'naïve €' }, NAME + 10],
  ['names in bytes of UTF-8, too', { ä: 'x' }, 2 + 1],
  ['one byte for two digits, and one', { a: 123 }, NAME + 3],
  ['numbers without their zeros at both ends', { a: 1_200_000, b: 0.0012 }, 2 * (NAME + 2)],
  ['a negative number', { a: -12 }, NAME + 3],
  ['null and truth', { a: null, b: true }, NAME + 1 + NAME + 1],
  ['a list: an overhead, and a byte for each element', { a: ['x', 'yz'] }, NAME + CONTAINER + (1 + 1) + (1 + 2)],
  ['maps in maps', { a: { b: { c: 'x' } } }, NAME + CONTAINER + 1 + (NAME + CONTAINER + 1 + (NAME + 1))],
])('itemSizeBytes counts %s', (_, item, bytes) => {
  expect(itemSizeBytes(marshall(item))).toBe(bytes)
})

it('a write costs what the larger item costs, before or after', () => {
  const [small, large] = [10, 3000].map((letters) => ({ a: { S: 'x'.repeat(letters) } }))
  expect([writeUnits(small, large), writeUnits(large, small)]).toEqual([3, 3])
})

it.each([
  [4096, 1, 0.5],
  [4097, 2, 1],
])('a read of %i bytes costs %d, or %d when it need not be consistent', (bytes, consistent, eventual) => {
  expect([readUnits(bytes, true), readUnits(bytes, false)]).toEqual([consistent, eventual])
})

describe('indexWriteUnits', () => {
  const index: IndexDefinition = {
    IndexName: 'due',
    KeySchema: [{ AttributeName: 'shard' }, { AttributeName: 'due' }],
    Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['color'] },
  }
  const one = { id: 'x', shard: 's', due: 1, color: 'red', weight: 1 }
  const entry = (item: object | undefined) => item && marshall(item, { removeUndefinedValues: true })

  it.each([
    ['an item without the index key', 0, undefined, { ...one, due: undefined }],
    ['a new item', 1, undefined, one],
    ['a key that goes', 1, one, { ...one, due: undefined }],
    ['another key: one entry goes, one comes', 2, one, { ...one, due: 2 }],
    ['a projected attribute', 1, one, { ...one, color: 'blue' }],
    ['an attribute that is not projected', 0, one, { ...one, weight: 2 }],
    ['nothing, whatever the order of the attributes', 0, one, { weight: 1, color: 'red', due: 1, shard: 's', id: 'x' }],
  ])('%s: %i', (_, expected, before, after) => {
    expect(indexWriteUnits(index, ['id'], entry(before), entry(after))).toBe(expected)
  })
})
