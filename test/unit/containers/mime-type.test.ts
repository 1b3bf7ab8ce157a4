import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveMimeType } from '../../../lib/containers/mime-type.ts'
import { typeOfContent } from '../../../lib/containers/type-of-content.ts'

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

  const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex')
  it.each<[string, Uint8Array, string]>([
    ['a PNG', PNG, 'image/png'],
    ['a PDF', Buffer.from('%PDF-1.4\n'), 'application/pdf'],
    ['a zip', Buffer.from('504b0304140000000800', 'hex'), 'application/zip'],
    ['text', Buffer.from('all:\n\tmake it\n'), 'text/plain; charset=utf-8'],
    ['text that is cut inside a character', Buffer.from('結果と報告').subarray(0, 13), 'text/plain; charset=utf-8'],
    ['text in another encoding', Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x20, 0x61]), 'application/octet-stream'],
    ['bytes', Buffer.from([1, 2, 3, 0, 255]), 'application/octet-stream'],
    ['nothing', Buffer.alloc(0), 'application/octet-stream'],
  ])('tells %s by its beginning, when nothing else does', async (_, start, mimeType) => {
    expect(await resolveMimeType('binary/octet-stream', 'no-extension', () => typeOfContent(start))).toBe(mimeType)
  })

  it.each([
    ['application/x-own', 'no-extension', 'application/x-own'],
    [undefined, 'a.csv', 'text/csv'],
  ])('reads nothing of a file with type %j and name %s', async (contentType, path, mimeType) => {
    const looksInside = () => Promise.reject(new Error('read'))
    expect(await resolveMimeType(contentType, path, looksInside)).toBe(mimeType)
  })

  it('bears whatever a file begins with', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 4096 }), async (start) => {
        expect(await resolveMimeType(undefined, 'x', () => typeOfContent(start))).toMatch(
          /^[\w.+-]+\/[\w.+-]+(; charset=utf-8)?$/,
        )
      }),
      { numRuns: 500 },
    )
  })
})
