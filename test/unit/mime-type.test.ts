import { describe, expect, it } from 'vitest'
import { resolveMimeType } from '../../lib/promotion/mime-type.ts'

describe('resolveMimeType', () => {
  it.each([
    ['text/csv', 'a.bin', 'text/csv'],
    ['text/plain; charset=utf-8', 'a.csv', 'text/plain; charset=utf-8'],
    [undefined, 'a.csv', 'text/csv'],
    ['', 'a.csv', 'text/csv'],
    ['binary/octet-stream', 'dir/a.PDF', 'application/pdf'],
    ['application/octet-stream', 'a.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    ['Application/Octet-Stream; charset=binary', 'a.json', 'application/json'],
    ['application/octet-stream', 'a.unknown-extension', 'application/octet-stream'],
    ['binary/octet-stream', 'no-extension', 'application/octet-stream'],
    [undefined, 'csv', 'application/octet-stream'],
    [undefined, 'dir.csv/no-extension', 'application/octet-stream'],
    [undefined, 'a.constructor', 'application/octet-stream'],
    [undefined, 'a.__proto__', 'application/octet-stream'],
  ])('Content-Type %j of %s: %s', async (contentType, path, mimeType) => {
    expect(await resolveMimeType(contentType, path)).toBe(mimeType)
  })
})
