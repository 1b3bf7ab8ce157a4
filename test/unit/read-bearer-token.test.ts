import { describe, expect, it } from 'vitest'
import { newToken } from '../../lib/auth/api-token.ts'
import { readBearerToken } from '../../lib/auth/read-bearer-token.ts'

const TOKEN = newToken()
const read = (...authorization: string[]) => readBearerToken({ authorization, hasOtherKeyHeader: false })

describe('readBearerToken', () => {
  it.each([`Bearer ${TOKEN}`, `bearer ${TOKEN}`])('reads %s', (header) => {
    expect(read(header)).toBe(TOKEN)
  })

  const noKey = 'There is no API key after the word Bearer.'
  const more = 'There is more than the API key after the word Bearer.'
  const noBearer = 'The word Bearer is missing before the API key.'
  const scheme = (name: string) => `The scheme ${name} is not supported.`
  it.each([
    ['Bearer', noKey],
    ['BEARER ', noKey],
    [`Bearer ${TOKEN} twice`, more],
    ['OldBearer', noBearer],
    [`Some bearer ${TOKEN}`, scheme('of the Authorization header')],
    [TOKEN, noBearer],
    [`${TOKEN} and more`, noBearer],
    [`"${TOKEN} and more"`, noBearer],
    [`'${TOKEN}' and more`, noBearer],
    [`the key ${TOKEN}`, scheme('of the Authorization header')],
    [`the "${TOKEN}" key`, scheme('of the Authorization header')],
    ['Basic YTpi', scheme('Basic')],
  ])('tells what is wrong with %s', (header, why) => {
    const refusal = { reason: 'malformed_authorization', detail: expect.stringContaining(why) }
    expect(() => read(header)).toThrow(expect.objectContaining(refusal))
  })
})
