import { describe, expect, it } from 'vitest'
import { preflightHeaders } from '../../../infra/deploy/gateway-responses.ts'
import {
  EXPOSED_HEADERS,
  HEADERS_OF_PROMOTION,
  headerValue,
  headerValues,
  readPreconditions,
} from '../../../lib/http/headers.ts'
import { OPENAPI } from '../../support/api/openapi.ts'

it('pages of other origins may send and read each header of docs/openapi.yaml, but those for browsers alone', () => {
  const sent = [...JSON.stringify(OPENAPI).matchAll(/"name":"([\w-]+)","in":"header"/g)].map(([, name]) => name)
  const allowed = preflightHeaders([])['access-control-allow-headers']?.split(', ')
  expect(allowed).toEqual(expect.arrayContaining(sent))
  const operations = Object.values<object>(OPENAPI.paths).flatMap((methods) => Object.values(methods))
  const answers = [OPENAPI.components, ...operations].flatMap(({ responses }) => Object.values<object>(responses))
  const names = answers.flatMap((answer) => ('headers' in answer ? Object.keys(Object(answer.headers)) : []))
  const isExposed = (name: string) => EXPOSED_HEADERS.toLowerCase().split(', ').includes(name.toLowerCase())
  expect(new Set(names.filter((name) => !isExposed(name)))).toEqual(new Set(['Cache-Control', 'Location', 'Vary']))
})

const event = (headers: object | null, multiValueHeaders: object | null = null) =>
  ({ headers, multiValueHeaders }) as Parameters<typeof headerValue>[0]

it('a promotion reads the headers that docs/openapi.yaml has for it', () => {
  type Parameters = { parameters: { name: string; in: string; $ref?: string }[] }
  const { post } = OPENAPI.paths['/containers/{container_id}/files/{file_id}/promote']
  const { parameters } = post as never as Parameters
  const all = parameters.map(({ $ref, ...own }) =>
    $ref ? OPENAPI.components.parameters[`${$ref.split('/').at(-1)}`] : own,
  )
  const names = all.flatMap((each) => (each?.in === 'header' ? [each.name] : []))
  expect(names).toEqual(expect.arrayContaining(HEADERS_OF_PROMOTION))
})

it('a header of a request is found where each has one value only', () => {
  expect(headerValues(event({ aCCEPT: 'one', other: 'two' }), 'Accept')).toEqual(['one'])
})

it.each([
  ['none were sent', event(null)],
  ['all are empty', event({ accept: '' }, { Accept: ['', ' '] })],
  ['one is there without a value', event({ Accept: undefined }, { Accept: undefined })],
])('headers of a request are undefined when %s', (_, sent) => {
  expect(headerValues(sent, 'Accept')).toEqual([])
  expect(headerValue(sent, 'Accept')).toBeUndefined()
})

const read = (name: string, value: string | string[]) =>
  readPreconditions({ headers: {}, multiValueHeaders: { [name]: [value].flat() } })
const HEX = 'aB'.repeat(32)
const MANY = 10_001

it.each([
  ['"a"', ['"a"']],
  ['a1b2-7', ['"a1b2-7"']],
  ['"a", b ,, W/"c",', ['"a"', '"b"', '"c"']],
  ['W/a1b2', ['"a1b2"']],
  ['"a,b"', ['"a,b"']],
  ['""', ['""']],
  ['"\u00e9"', ['"\u00e9"']],
  ['*', undefined],
  [['"a"', ' "a" '], ['"a"']],
])('If-Match %s means %j', (value, etags) => {
  expect(read('IF-MATCH', value).etags).toEqual(etags)
})

it('File-Bytes and File-Sha256 are read in whatever way they can be written', () => {
  expect(['0', '8763', ' 007 '].map((value) => read('file-bytes', value).sizeBytes)).toEqual([0, 8763, 7])
  expect(read('file-sha256', ` ${HEX} `).sha256).toBe(HEX.toLowerCase())
})

/** Separated by bars. */
const REFUSED = {
  'If-Match': `|  |, ,|"a|"a" "b"|"a""b"|a"b"|"a", *|"a\u0001"|"\u0439"|${'"'.repeat(MANY)}|"a"${' '.repeat(MANY)}"b"`,
  'File-Bytes': `|-1|+1|1.0|1e3|0x10|1,000|1 000|\u0661|NaN|${'9'.repeat(16)}|${'9'.repeat(MANY)}`,
  'File-Sha256': `|${HEX.slice(2)}|${HEX}0|${'xy'.repeat(32)}|${'A'.repeat(43)}=|sha256:${HEX}`,
}
const refusedValues = Object.entries(REFUSED).flatMap(([name, values]) =>
  [...values.split('|'), ['"1"', '"2"']].map((value) => [name, value] as const),
)

it.each(refusedValues)('%s is refused by name for %s', (name, value) => {
  const refusal = { reason: 'invalid_precondition', detail: expect.stringContaining(name) }
  expect(() => read(name, value)).toThrow(expect.objectContaining(refusal))
})

describe('Prefer', () => {
  it.each([
    ['wait=5|WAIT = 5|wait="5"|wait=5; foo=bar|respond-async, wait=5|wait=5, wait=9', 5000],
    ['foo="a, wait=9", wait=5|foo="\\", wait=9", wait=5', 5000],
    ['wait=0', 0],
    [`wait=20|wait=21|wait=${'9'.repeat(400)}`, 20_000],
    ['|wait|wait=|wait=-1|wait=1.5|wait=1e1|wait=soon, wait=5|waits=5|await=5|x;wait=5|"wait=5"|wait=5"|=5', undefined],
    [`,;=|${'wait='.repeat(MANY)}|${'"'.repeat(MANY)}`, undefined],
  ])('%s is a wait of %s ms', (values, waitMs) => {
    for (const value of values.split('|')) expect(read('prefer', value).waitMs, value).toBe(waitMs)
  })

  it('may be sent in several headers', () => {
    expect(read('prefer', ['return=minimal', 'wait=7']).waitMs).toBe(7000)
  })
})
