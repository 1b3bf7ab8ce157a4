import { describe, expect, it } from 'vitest'
import { readPreconditions } from '../../../lib/http/preconditions.ts'

const read = (headers: Record<string, string | string[]>) => {
  const multiValueHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()]))
  return readPreconditions({ headers: {}, multiValueHeaders })
}

describe('If-Match', () => {
  it.each([
    ['"a"', ['"a"']],
    ['a1b2-7', ['"a1b2-7"']],
    ['"a", b ,, W/"c",', ['"a"', '"b"', 'W/"c"']],
    ['"a,b"', ['"a,b"']],
    ['""', ['""']],
    ['"\u00e9"', ['"\u00e9"']],
    ['*', undefined],
  ])('%s means %j', (value, etags) => {
    expect(read({ 'if-match': value }).etags).toEqual(etags)
  })

  it('sent twice with the same value counts once', () => {
    expect(read({ 'IF-MATCH': ['"a"', ' "a" '] }).etags).toEqual(['"a"'])
  })

  it.each([
    ['nothing', ''],
    ['white space', '  '],
    ['commas only', ', ,'],
    ['an open quotation mark', '"a'],
    ['two tags without a comma', '"a" "b"'],
    ['two tags without anything', '"a""b"'],
    ['a tag stuck to another', 'a"b"'],
    ['* among tags', '"a", *'],
    ['a control character', '"a\u0001"'],
    ['a character above Latin-1', '"\u0439"'],
    ['two values', ['"a"', '"b"']],
    ['ten thousand quotation marks', '"'.repeat(10_001)],
    ['ten thousand spaces', `"a"${' '.repeat(10_000)}"b"`],
  ])('with %s is refused by name', (_, value) => {
    expect(() => read({ 'if-match': value })).toThrow(
      expect.objectContaining({ reason: 'invalid_precondition', detail: expect.stringContaining('If-Match') }),
    )
  })
})

describe('File-Bytes', () => {
  it.each([
    ['0', 0],
    ['8763', 8763],
    [' 007 ', 7],
  ])('%s is a size', (value, sizeBytes) => {
    expect(read({ 'File-Bytes': value }).sizeBytes).toBe(sizeBytes)
  })

  it.each(['', '-1', '+1', '1.0', '1e3', '0x10', '1,000', '1 000', '١', 'NaN', '9'.repeat(16), '9'.repeat(10_000)])(
    'is refused by name for %s',
    (value) => {
      expect(() => read({ 'file-bytes': value })).toThrow(
        expect.objectContaining({ reason: 'invalid_precondition', detail: expect.stringContaining('File-Bytes') }),
      )
    },
  )

  it('is refused with two values', () => {
    expect(() => read({ 'file-bytes': ['1', '2'] })).toThrow(
      expect.objectContaining({ reason: 'invalid_precondition' }),
    )
  })
})

describe('File-Sha256', () => {
  it('is taken in any case of its digits', () => {
    expect(read({ 'file-sha256': ` ${'aB'.repeat(32)} ` }).sha256).toBe('ab'.repeat(32))
  })

  it.each([
    '',
    'ab'.repeat(31),
    `${'ab'.repeat(32)}0`,
    'xy'.repeat(32),
    `${'A'.repeat(43)}=`,
    `sha256:${'ab'.repeat(32)}`,
  ])('is refused by name for %s', (value) => {
    expect(() => read({ 'file-sha256': value })).toThrow(
      expect.objectContaining({ reason: 'invalid_precondition', detail: expect.stringContaining('File-Sha256') }),
    )
  })
})

describe('Prefer', () => {
  it.each([
    ['wait=5', 5000],
    ['WAIT = 5', 5000],
    ['wait="5"', 5000],
    ['wait=5; foo=bar', 5000],
    ['respond-async, wait=5', 5000],
    ['foo="a, wait=9", wait=5', 5000],
    ['foo="\\", wait=9", wait=5', 5000],
    ['wait=5, wait=9', 5000],
    ['wait=0', 0],
    ['wait=20', 20_000],
    ['wait=21', 20_000],
    [`wait=${'9'.repeat(400)}`, 20_000],
  ])('%s is a wait of %i ms', (value, waitMs) => {
    expect(read({ prefer: value }).waitMs).toBe(waitMs)
  })

  it('may be sent in several headers', () => {
    expect(read({ prefer: ['return=minimal', 'wait=7'] }).waitMs).toBe(7000)
  })

  it.each([
    '',
    'wait',
    'wait=',
    'wait=-1',
    'wait=1.5',
    'wait=1e1',
    'wait=soon, wait=5',
    'waits=5',
    'await=5',
    'x;wait=5',
    '"wait=5"',
    'wait=5"',
    '=5',
    ',;=',
    'wait='.repeat(5000),
    '"'.repeat(10_001),
  ])('%s asks for no wait', (value) => {
    expect(read({ prefer: value }).waitMs).toBeUndefined()
  })
})

it('nothing is asked for without headers', () => {
  expect(Object.values(read({})).filter((value) => value !== undefined)).toEqual([])
})
