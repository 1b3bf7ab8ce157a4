import { MIMEType } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveMimeType } from '../../../lib/containers/mime-type.ts'
import { typeOfContent } from '../../../lib/containers/type-of-content.ts'
import { knownType, UNKNOWN_TYPE } from '../../../lib/media-type.ts'

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
    // What is no media type, is one of many, or is a default, counts as missing.
    ['false', 'a.csv', 'text/csv'],
    ['pdf', 'a.csv', 'text/csv'],
    ['*/*', 'a.csv', 'text/csv'],
    ['text/*', 'a.csv', 'text/csv'],
    ['text/x y', 'a.csv', 'text/csv'],
    ['text/plain; charset', 'a.csv', 'text/csv'],
    ['application/x-www-form-urlencoded', 'a.csv', 'text/csv'],
    ['Multipart/Form-Data; boundary=x', 'a.csv', 'text/csv'],
    ['inode/x-empty', 'a.csv', 'text/csv'],
    ['inode/symlink', 'a.csv', 'text/csv'],
    [' text/html;', 'a.csv', 'text/html;'],
    ['text/html; a="b; c=\'d\'" ; charset=utf-8', 'a.csv', 'text/html; a="b; c=\'d\'" ; charset=utf-8'],
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

  const STREAM = Buffer.alloc(4096, 0xff).map((byte, at) => (at % 188 === 0 ? 0x47 : byte))
  const CODE = Buffer.from('export {}\n')
  const PLAIN = 'text/plain; charset=utf-8'
  it.each<[string | undefined, string, Uint8Array | undefined, string]>([
    [undefined, 'src/index.ts', CODE, PLAIN],
    ['video/MP2T', 'src/index.ts', CODE, PLAIN],
    [undefined, 'src/index.TS', STREAM, 'video/mp2t'],
    [undefined, 'encrypted.ts', Buffer.from([1, 2, 3, 0, 255]), 'video/mp2t'],
    [undefined, 'figure.ts', PNG, 'image/png'],
    [undefined, 'empty.ts', Buffer.alloc(0), 'text/plain'],
    [undefined, 'unread.ts', undefined, 'text/plain'],
    ['video/mp2t', 'unread.ts', undefined, 'video/mp2t'],
    [undefined, 'src/lib.rs', CODE, PLAIN],
    [undefined, 'id_ed25519.pub', CODE, PLAIN],
    [undefined, 'slides.key', Buffer.from('504b0304140000000800', 'hex'), 'application/vnd.apple.keynote'],
    ['application/x-pem-file', 'tls.key', CODE, 'application/x-pem-file'],
    [undefined, 'dir/.ts', undefined, 'application/octet-stream'],
  ])(
    'looks into a file whose extension may mean text: Content-Type %j of %s',
    async (contentType, path, start, type) => {
      const look = async () => start && typeOfContent(start)
      expect(await resolveMimeType(contentType, path, look)).toBe(type)
    },
  )

  it.each([
    ['application/x-own', 'no-extension', 'application/x-own'],
    ['text/x-own', 'a.ts', 'text/x-own'],
    [undefined, 'a.csv', 'text/csv'],
  ])('reads nothing of a file with type %j and name %s', async (contentType, path, mimeType) => {
    const looksInside = () => Promise.reject(new Error('read'))
    expect(await resolveMimeType(contentType, path, looksInside)).toBe(mimeType)
  })

  const pieces = ['text', '/', '*', 'csv', ';', ' ', 'charset', '=', 'utf-8', '"', '\\', 'é', 'x'.repeat(250)]
  const anyType = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((found) => found.join(''))
  const anyName = fc.tuple(fc.string({ unit: 'binary' }), fc.constantFrom('', 'x.ts', 'x.csv', 'x.constructor'))
  it('is a media type of at most 255 characters, whatever Content-Type, name and bytes', async () => {
    const oneFile = async (contentType: string | undefined, [name, end]: [string, string], start: Uint8Array) => {
      const type = await resolveMimeType(contentType, name + end, () => typeOfContent(start))
      expect(type.length).toBeLessThanOrEqual(255)
      expect(new MIMEType(type).essence).toMatch(/^[\w.+-]+\/[\w.+-]+$/)
      expect(knownType(type) ?? UNKNOWN_TYPE).toBe(type)
    }
    const anyBytes = fc.uint8Array({ maxLength: 4096 })
    const types = fc.oneof(fc.constant(undefined), anyType, fc.string({ maxLength: 300 }))
    await fc.assert(fc.asyncProperty(types, anyName, anyBytes, oneFile), { numRuns: 1000 })
  })
})
