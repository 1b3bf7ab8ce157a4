import { describe, expect, it } from 'vitest'
import { corsHeaders, EXPOSED_HEADERS } from '../../../lib/http/cors.ts'
import { headerValue, headerValues } from '../../../lib/http/request-headers.ts'

const event = (headers: object | null, multiValueHeaders: object | null = null) =>
  ({ headers, multiValueHeaders }) as Parameters<typeof headerValue>[0]

describe('the headers of a request', () => {
  it('are found in any case, all values of them', () => {
    const both = event({ 'X-Some': 'last' }, { 'X-Some': ['first', 'last'] })
    expect(headerValues(both, 'x-some')).toEqual(['first', 'last'])
    expect(headerValue(both, 'x-some')).toBe('first, last')
  })

  it('are found where each has one value only', () => {
    expect(headerValues(event({ 'x-SOME': 'one', other: 'two' }), 'x-some')).toEqual(['one'])
  })

  it.each([
    ['none were sent', event(null)],
    ['all are empty', event({ 'x-some': '' }, { 'x-some': ['', ' '] })],
    ['one is there without a value', event({ 'x-some': undefined }, { 'x-some': undefined })],
  ])('are undefined when %s', (_, sent) => {
    expect(headerValues(sent, 'x-some')).toEqual([])
    expect(headerValue(sent, 'x-some')).toBeUndefined()
  })
})

describe('the headers of an answer for a page of another origin', () => {
  const ALLOWED = ['https://app.example.com']

  it('let an allowed origin read it', () => {
    expect(corsHeaders(event({ Origin: 'https://app.example.com' }), ALLOWED)).toEqual({
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-expose-headers': EXPOSED_HEADERS,
    })
  })

  it.each([
    ['any other origin', { Origin: 'https://evil.example.com' }],
    ['one that only begins like it', { Origin: 'https://app.example.com.evil.example' }],
    ['no origin', {}],
  ])('are none for %s', (_, headers) => {
    expect(corsHeaders(event(headers), ALLOWED)).toEqual({})
  })
})
