import fc from 'fast-check'
import type { Content } from './dynalite.ts'

/** A request; `goesOn` from where the last one of its kind ended. */
export interface AnyOperation {
  operation: string
  input: Content
  goesOn: boolean
}

const of = fc.constantFrom
const sometimes = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 2 })

const S = (value: string) => ({ S: value })
const N = (value: number) => ({ N: String(value) })
const hashes = of('a', 'b').map(S)
const ranges = of('1', '2', '3', '31').map(S)
const numbers = fc.integer({ min: -3, max: 12 }).map(N)
const texts = fc.oneof({ weight: 15, arbitrary: of('x', 'y', 'xy') }, of('')).map(S)
const markers = fc.dictionary(
  of('k', 'l'),
  fc.record({ n: numbers }).map((M) => ({ M })),
  { maxKeys: 2 },
)
const maps = markers.map((M) => ({ M }))
const anyValue: fc.Arbitrary<object> = fc.oneof(numbers, texts, maps, of({ BOOL: true }, { NULL: true }))

/** Now and then one that DynamoDB refuses: a part is missing, or of another type. */
const keys = fc.oneof(
  { weight: 30, arbitrary: fc.record({ h: hashes, r: ranges }) },
  { weight: 1, arbitrary: of({ h: S('a') }, { h: N(1), r: S('1') }, { h: S(''), r: S('1') }, {}) },
) as fc.Arbitrary<Content>
const attributes = fc.record(
  {
    item_state: fc.oneof({ weight: 9, arbitrary: texts }, { weight: 1, arbitrary: anyValue }),
    n: fc.oneof({ weight: 9, arbitrary: numbers }, { weight: 1, arbitrary: anyValue }),
    m: fc.oneof({ weight: 9, arbitrary: maps }, { weight: 1, arbitrary: anyValue }),
    due_shard: of('x', 'y').map(S),
    due: fc.oneof({ weight: 20, arbitrary: numbers }, { weight: 1, arbitrary: texts }),
    listed: of('x', 'xy', 'y').map(S),
  },
  { requiredKeys: [] },
)
/** Those of keys are not to be set, nor to be filtered by. */
const paths = fc.oneof(
  { weight: 60, arbitrary: of('item_state', 'n', 'due', 'gone', '#m.#k', '#m.#k.n') },
  { weight: 10, arbitrary: of('due_shard', 'listed', '#m') },
  of('r'),
)
const values = of(':s', ':n', ':m', ':t')

/** Few levels: dynalite takes four times as long to parse an expression for each further NOT around it. */
const condition: fc.Arbitrary<string> = fc.letrec<{ any: string; one: string }>((tie) => ({
  one: fc.oneof(
    fc.tuple(paths, of('=', '<>'), values).map((parts) => parts.join(' ')),
    // DynamoDB refuses to put maps in an order; dynalite does not.
    fc.tuple(paths, of('<', '<=', '>', '>='), of(':s', ':n')).map((parts) => parts.join(' ')),
    paths.map((path) => `attribute_exists(${path})`),
    paths.map((path) => `attribute_not_exists(${path})`),
    fc.tuple(paths, of('<', '>='), of(':n')).map(([path, sign, value]) => `size(${path}) ${sign} ${value}`),
    paths.map((path) => `begins_with(${path}, :s)`),
    paths.map((path) => `contains(${path}, :s)`),
    paths.map((path) => `${path} BETWEEN :n AND :t`),
    paths.map((path) => `${path} IN (:s, :n)`),
  ),
  any: fc.oneof(
    { maxDepth: 4 },
    tie('one'),
    fc.tuple(tie('any'), of('AND', 'OR'), tie('any')).map(([one, sign, other]) => `(${one} ${sign} ${other})`),
    tie('any').map((one) => `NOT ${one}`),
  ),
})).any

const settable = fc.oneof(
  { weight: 5, arbitrary: values },
  of('n + :n', 'n - :n', 'n + #m.#k.n', 'if_not_exists(n, :n)', 'if_not_exists(n, :n) + :t', '#m'),
)
/** DynamoDB puts a copy of a map into itself; dynalite the map itself, and then never comes to its end. */
const assignment = fc.tuple(paths, settable).filter(([path, value]) => value !== '#m' || !path.startsWith('#m.'))
const clauses = fc
  .record(
    {
      SET: fc.uniqueArray(assignment, { minLength: 1, maxLength: 3, selector: ([path]) => path }),
      REMOVE: fc.uniqueArray(of('listed', 'due_shard', '#m.#l', 'gone', 'item_state'), { minLength: 1, maxLength: 2 }),
      ADD: fc.array(of('hits :n', 'n :n', '#m.#l.n :n'), { minLength: 1, maxLength: 1 }),
    },
    { requiredKeys: [] },
  )
  .map(({ SET, REMOVE, ADD }) =>
    [
      SET && `SET ${SET.map(([path, value]) => `${path} = ${value}`).join(', ')}`,
      REMOVE && `REMOVE ${REMOVE.join(', ')}`,
      ADD && `ADD ${ADD.join(', ')}`,
    ]
      .filter((clause) => clause !== undefined)
      .join(' '),
  )

/** Names and values that its expressions use, but for one request in twenty, which has them all, or misses one. */
function complete(input: Content, given: Content, isWrong: number): Content {
  const text = Object.entries(input)
    .filter(([name]) => name.endsWith('Expression'))
    .map(([, expression]) => expression)
    .join(' ')
  const used = (all: Content) =>
    Object.fromEntries(
      Object.entries(all).filter(([name]) => isWrong === 1 || new RegExp(`${name}\\b`).test(text) === isWrong > 2),
    )
  const names = used({ '#m': 'm', '#k': 'k', '#l': 'l' })
  const all = used(given)
  return {
    ...input,
    ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
    ...(Object.keys(all).length > 0 && { ExpressionAttributeValues: all }),
  }
}

const request = (operation: string, input: fc.Arbitrary<Content>): fc.Arbitrary<AnyOperation> =>
  fc
    .record({
      input,
      given: fc
        .record({ ':s': texts, ':n': numbers, ':t': numbers, ':m': maps, ':h': hashes })
        .map((all) => (Number(all[':n'].N) > Number(all[':t'].N) && all[':s'].S ? { ...all, ':t': N(20) } : all)),
      isWrong: fc.integer({ min: 1, max: 40 }),
      goesOn: fc.boolean(),
    })
    .map(({ input: each, given, isWrong, goesOn }) => ({
      operation,
      goesOn,
      input: complete(JSON.parse(JSON.stringify(each)), given, isWrong),
    }))

const conditional = {
  ConditionExpression: sometimes(condition),
  ReturnValuesOnConditionCheckFailure: sometimes(of('ALL_OLD', 'NONE')),
}
const projected = sometimes(of('h, r', 'n, #m.#k', 'item_state', 'due, due_shard, #m'))
const listed = {
  Limit: sometimes(fc.integer({ min: 1, max: 4 })),
  FilterExpression: sometimes(condition),
  ProjectionExpression: projected,
}

const query = (indexes: (string | undefined)[], conditions: string[]) => {
  const by = { IndexName: of(...indexes), KeyConditionExpression: of(...conditions) }
  const rarely = of(undefined, undefined, undefined, false, true)
  return request(
    'Query',
    fc.record({ ...by, ScanIndexForward: sometimes(fc.boolean()), ConsistentRead: rarely, ...listed }),
  )
}
const put = fc.record({
  Item: fc.tuple(keys, attributes).map((parts) => Object.assign({}, ...parts)),
  ReturnValues: sometimes(of('ALL_OLD', 'NONE', 'ALL_NEW')),
  ...conditional,
})
const update = fc.record({
  Key: keys,
  UpdateExpression: clauses,
  ReturnValues: sometimes(of('ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW', 'NONE')),
  ...conditional,
})
const remove = fc.record({ Key: keys, ReturnValues: sometimes(of('ALL_OLD', 'NONE', 'UPDATED_NEW')), ...conditional })
const get = fc.record({ Key: keys, ConsistentRead: sometimes(fc.boolean()), ProjectionExpression: projected })

/** Each operation that adapters use, on a table like {@link TABLE}. */
export const anyOperation: fc.Arbitrary<AnyOperation> = fc.oneof(
  { weight: 4, arbitrary: request('PutItem', put) },
  { weight: 6, arbitrary: request('UpdateItem', update) },
  { weight: 2, arbitrary: request('DeleteItem', remove) },
  { weight: 1, arbitrary: request('GetItem', get) },
  {
    weight: 3,
    arbitrary: query([undefined], ['h = :h', 'h = :h AND r > :s', 'h = :h AND begins_with(r, :s)', 'n = :n']),
  },
  {
    weight: 2,
    arbitrary: query(
      ['due'],
      ['due_shard = :s', 'due_shard = :s AND due <= :n', 'due_shard = :s AND due BETWEEN :n AND :t'],
    ),
  },
  { weight: 2, arbitrary: query(['listed', 'listed', 'listed', 'none'], ['h = :h', 'h = :h AND listed > :s']) },
  { weight: 1, arbitrary: request('Scan', fc.record({ ...listed, IndexName: sometimes(of('due', 'listed')) })) },
)

const key = (hash: string, range: string) => [
  { AttributeName: hash, KeyType: 'HASH' },
  { AttributeName: range, KeyType: 'RANGE' },
]
const attribute = (AttributeName: string, AttributeType: string) => ({ AttributeName, AttributeType })
const included = { ProjectionType: 'INCLUDE', NonKeyAttributes: ['n'] }

/** As Documents: two sparse indexes. */
export const TABLE = {
  KeySchema: key('h', 'r'),
  AttributeDefinitions: [
    ...['h', 'r', 'due_shard', 'listed'].map((name) => attribute(name, 'S')),
    attribute('due', 'N'),
  ],
  GlobalSecondaryIndexes: [
    { IndexName: 'due', KeySchema: key('due_shard', 'due'), Projection: { ProjectionType: 'KEYS_ONLY' } },
    { IndexName: 'listed', KeySchema: key('h', 'listed'), Projection: included },
  ],
  BillingMode: 'PAY_PER_REQUEST',
}
