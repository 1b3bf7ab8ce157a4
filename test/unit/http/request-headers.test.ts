import { describe, expect, it } from 'vitest'
import { headerValue, headerValues } from '../../../lib/http/request-headers.ts'

const event = (headers: object | null, multiValueHeaders: object | null = null) =>
  ({ headers, multiValueHeaders }) as Parameters<typeof headerValue>[0]

describe('the headers of a request', () => {
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
