import { MIMEType } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createContainerLookups } from '../../../lib/aws/s3/container-file.ts'
import { resolveMimeType } from '../../../lib/containers/mime-type.ts'
import { typeOfContent } from '../../../lib/containers/type-of-content.ts'
import { fileResponse } from '../../../lib/http/file-response.ts'
import { clientOf } from '../../support/stores/client-of.ts'

const { signal } = new AbortController()
const DOCUMENT = { documentId: `file_${'x'.repeat(22)}`, sizeBytes: 5 * 1024 ** 3, createdAt: new Date() }

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
    [' text/html; a="b; c" ;', 'a.csv', 'text/html; a="b; c" ;'],
  ])('Content-Type %j of %s: %s', async (contentType, path, mimeType) => {
    expect(await resolveMimeType(contentType, path)).toBe(mimeType)
  })

  const JUNK = 'false,pdf,text,*/*,text/*,text/x y,text/x; y,text/x; y="\\",inode/x-empty,inode/symlink'.split(',')
  const FORMS = ['application/x-www-form-urlencoded', 'Multipart/Form-Data; boundary=x']
  it.each([...JUNK, ...FORMS])('does without the Content-Type %j', async (contentType) => {
    expect(await resolveMimeType(contentType, 'a.csv')).toBe('text/csv')
  })

  const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex')
  const STREAM = Buffer.alloc(4096, 0xff).map((byte, at) => (at % 188 === 0 ? 0x47 : byte))
  const CODE = Buffer.from('export {}\n')
  const PLAIN = 'text/plain; charset=utf-8'
  it.each<[string | undefined, string, Uint8Array | undefined, string]>([
    [undefined, 'a PNG', PNG, 'image/png'],
    [undefined, 'a PDF', Buffer.from('%PDF-1.4\n'), 'application/pdf'],
    [undefined, 'a zip', Buffer.from('504b0304140000000800', 'hex'), 'application/zip'],
    [undefined, 'text', Buffer.from('all:\n\tmake it\n'), PLAIN],
    [undefined, 'text that is cut inside a character', Buffer.from('結果と報告').subarray(0, 13), PLAIN],
    [undefined, 'text in Latin-1', Buffer.from('café a', 'latin1'), 'application/octet-stream'],
    [undefined, 'bytes', Buffer.from([1, 2, 3, 0, 255]), 'application/octet-stream'],
    [undefined, 'nothing', Buffer.alloc(0), 'application/octet-stream'],
    [undefined, 'src/index.ts', CODE, PLAIN],
    ['video/MP2T', 'src/index.ts', CODE, PLAIN],
    [undefined, 'src/index.TS', STREAM, 'video/mp2t'],
    [undefined, 'encrypted.ts', Buffer.from([1, 2, 3, 0, 255]), 'video/mp2t'],
    [undefined, 'empty.ts', Buffer.alloc(0), 'text/plain'],
    ['video/mp2t', 'unread.ts', undefined, 'video/mp2t'],
    [undefined, 'src/lib.rs', CODE, PLAIN],
    [undefined, 'slides.key', Buffer.from('504b0304140000000800', 'hex'), 'application/vnd.apple.keynote'],
  ])('looks inside when nothing else tells, or may mean text: %j of %s', async (stored, path, start, type) => {
    expect(await resolveMimeType(stored, path, async () => start && typeOfContent(start))).toBe(type)
  })

  it.each([
    ['application/x-own', 'no-extension', 'application/x-own'],
    ['text/x-own', 'a.ts', 'text/x-own'],
    [undefined, 'a.csv', 'text/csv'],
  ])('reads nothing of a file with type %j and name %s', async (contentType, path, mimeType) => {
    const looksInside = () => Promise.reject(new Error('read'))
    expect(await resolveMimeType(contentType, path, looksInside)).toBe(mimeType)
  })

  it('makes a thousandth of a page, whatever Content-Type, Content-Encoding, name and bytes S3 holds', async () => {
    const pieces = [...'/*;="\\é, y', 'text', 'csv', 'aws-chunked', 'x'.repeat(250)]
    const header = fc.array(fc.constantFrom(...pieces)).map((found) => found.join(''))
    const headers = fc.record({ ContentType: header, ContentEncoding: header })
    const name = fc.tuple(fc.constantFrom('"', '\\', 'é', '結果', '📄'), fc.constantFrom('', 'x', 'x.ts', 'x.csv'))
    const oneFile = async (head: object, [char, end]: [string, string], start: Uint8Array) => {
      const filename = char.repeat(1000 / Buffer.byteLength(char)) + end
      const { client } = clientOf({ HeadObjectCommand: () => ({ ContentLength: 1, ETag: 'e', ...head }) })
      const file = await createContainerLookups({ client, sandboxBucket: 's' }).findContainerFile(filename, signal)
      expect(file?.contentEncoding || 'gzip').not.toMatch(/(^|, )(aws-chunked)?(, |$)/i)
      const mimeType = await resolveMimeType(file?.contentType, filename, () => typeOfContent(start))
      expect(mimeType.length).toBeLessThanOrEqual(255)
      expect(new MIMEType(mimeType).essence).toMatch(/^[\w.+-]+\/[\w.+-]+$/)
      const listed = fileResponse({ ...DOCUMENT, filename, mimeType } as never, { shape: 'native', label: 'native' })
      expect(Buffer.byteLength(JSON.stringify(JSON.stringify(listed)))).toBeLessThan(5400)
    }
    await fc.assert(fc.asyncProperty(headers, name, fc.uint8Array({ maxLength: 4096 }), oneFile), { numRuns: 1000 })
  })
})
