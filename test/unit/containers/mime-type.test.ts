import { MIMEType } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createContainerLookups } from '../../../lib/aws/s3/container-file.ts'
import { resolveMimeType } from '../../../lib/containers/mime-type.ts'
import { typeOfContent } from '../../../lib/containers/type-of-content.ts'
import { fileResponse } from '../../../lib/http/shapes.ts'
import { assertProperty } from '../../support/assert-property.ts'
import { clientOf } from '../../support/stores/client-of.ts'

const { signal } = new AbortController()
const DOCUMENT = { documentId: `file_${'x'.repeat(22)}`, sizeBytes: 5 * 1024 ** 3, createdAt: new Date() }
const stored = (contentType?: string, contentEncoding?: string) => ({ contentType, contentEncoding })

describe('resolveMimeType', () => {
  it.each([
    ['text/csv', 'a.bin', 'text/csv'],
    ['text/plain; charset=utf-8', 'a.csv', 'text/plain; charset=utf-8'],
    [undefined, 'a.csv', 'text/csv'],
    ['binary/octet-stream', 'dir/a.PDF', 'application/pdf'],
    ['Application/Octet-Stream; charset=binary', 'a.json', 'application/json'],
    ['application/octet-stream', 'a.unknown-extension', 'application/octet-stream'],
    [undefined, 'csv', 'application/octet-stream'],
    [undefined, '.csv', 'application/octet-stream'],
    [undefined, 'dir.csv/no-extension', 'application/octet-stream'],
    [undefined, 'a.constructor', 'application/octet-stream'],
    [undefined, 'a.NDJSON', 'application/x-ndjson'],
    [' text/html; a="b; c" ;', 'a.csv', 'text/html; a="b; c" ;'],
  ])('Content-Type %j of %s: %s', async (contentType, path, mimeType) => {
    expect(await resolveMimeType(stored(contentType), path)).toBe(mimeType)
  })

  const JUNK = 'false,pdf,text,*/*,text/*,text/x y,text/x; y,text/x; y="\\",inode/x-empty,inode/symlink'.split(',')
  const FORMS = ['application/x-www-form-urlencoded', 'Multipart/Form-Data; boundary=x']
  it.each([...JUNK, ...FORMS])('does without the Content-Type %j', async (contentType) => {
    expect(await resolveMimeType(stored(contentType), 'a.csv')).toBe('text/csv')
  })

  const ZIP = Buffer.from('504b0304140000000800', 'hex')
  const CFB = Buffer.from('d0cf11e0a1b11ae1', 'hex')
  const STREAM = Buffer.alloc(4096, 0xff).map((byte, at) => (at % 188 === 0 ? 0x47 : byte))
  const BINARY = Buffer.from([1, 2, 3, 0, 255])
  const CODE = Buffer.from('export {}\n')
  const XML = Buffer.from('<?xml version="1.0"?><x/>')
  const PLAIN = 'text/plain; charset=utf-8'
  it.each<[string | undefined, string, Uint8Array | undefined, string]>([
    [undefined, 'src/index.ts', CODE, PLAIN],
    ['video/MP2T', 'src/index.ts', CODE, PLAIN],
    ['application/x-own', 'src/index.ts', CODE, PLAIN],
    ['application/x-own', 'src/index.ts', BINARY, 'application/x-own'],
    [undefined, 'src/index.TS', STREAM, 'video/mp2t'],
    [undefined, 'encrypted.ts', BINARY, 'video/mp2t'],
    [undefined, 'empty.ts', Buffer.alloc(0), 'text/plain'],
    ['video/mp2t', 'unread.ts', undefined, 'video/mp2t'],
    [undefined, 'unread.dat', undefined, 'application/octet-stream'],
    [undefined, 'slides.key', ZIP, 'application/vnd.apple.keynote'],
    [undefined, 'letter.dot', CFB, 'application/msword'],
    [undefined, 'disk.vhd', BINARY, 'application/x-virtualbox-vhd'],
    [undefined, 'graph.gml', XML, 'application/gml+xml'],
    [undefined, 'map.ts', XML, 'application/xml'],
    // The table says application/octet-stream of these names.
    [undefined, 'a.bin', CODE, PLAIN],
    [undefined, 'a.dump', ZIP, 'application/zip'],
    [undefined, 'a.img', BINARY, 'application/octet-stream'],
  ])('looks inside when nothing else tells, or may mean text: %j of %s', async (contentType, path, start, type) => {
    expect(await resolveMimeType(stored(contentType), path, async () => start && typeOfContent(start))).toBe(type)
  })

  const BY_CODE =
    'py go r m hs kt tsx ps1 dat sty mmd vhd vcf smi asc exp rep prf pls scd fbs msg p8 pt mod sub t td sls ' +
    'rs dot nim sam me'
  const NAMES = [...BY_CODE.split(' ').map((extension) => `a.${extension}`), 'Makefile', '.env', 'dir.csv/none']
  it.each(NAMES)('%s with text in it is text', async (path) => {
    expect(await resolveMimeType(stored(), path, () => typeOfContent(CODE))).toBe(PLAIN)
  })

  it.each<[string | undefined, string, Uint8Array | undefined, string]>([
    // The AWS CLI and rclone, by Debian's tables.
    ['text/csv', 'data.csv.gz', undefined, 'application/gzip'],
    ['application/x-tar', 'src.TGZ', undefined, 'application/gzip'],
    ['text/csv', 'data.csv.bz2', undefined, 'application/x-bzip2'],
    ['application/json', 'data.json.xz', undefined, 'application/x-xz'],
    ['text/vnd.trolltech.linguist', 'types.ts', CODE, PLAIN],
    ['application/vnd.snesdev-page-table', 'model.pt', ZIP, 'application/zip'],
    ['application/vnd.snesdev-page-table', 'old.pt', Buffer.from('80028a0a', 'hex'), 'application/octet-stream'],
    ['application/x-tgif', 'cube.obj', undefined, 'model/obj'],
    ['audio/x-mod', 'go.mod', CODE, PLAIN],
    ['audio/csound', 'table.orc', BINARY, 'application/octet-stream'],
    ['text/vcard', 'genome.vcf', Buffer.from('## genome\n'), PLAIN],
    ['text/vcard', 'me.vcf', Buffer.from('BEGIN:VCARD\r\n'), 'text/vcard'],
    // Browsers on Windows.
    ['application/vnd.ms-excel', 'a.csv', undefined, 'text/csv'],
    // No guesses.
    ['application/vnd.ms-excel', 'a.xls', undefined, 'application/vnd.ms-excel'],
    ['text/x-python', 'a.py', undefined, 'text/x-python'],
  ])('believes no type that an uploader guessed from the name: %s of %s', async (contentType, path, start, type) => {
    const looksInside = async () => (start ? typeOfContent(start) : Promise.reject(new Error('read')))
    expect(await resolveMimeType(stored(contentType), path, looksInside)).toBe(type)
  })

  it.each([
    ['application/x-own', 'no-extension', undefined, 'application/x-own'],
    ['text/x-own', 'a.ts', undefined, 'text/x-own'],
    [undefined, 'a.csv', undefined, 'text/csv'],
    ['text/csv', 'data.csv.gz', 'gzip', 'text/csv'],
    ['text/csv', 'data.csv.gz', '', 'application/gzip'],
    ['video/mp2t', 'index.ts', 'gzip', 'video/mp2t'],
    [undefined, 'index.ts', 'gzip', 'text/plain'],
  ])('reads nothing of a file with type %j, name %s and encoding %j: %s', async (contentType, path, encoding, type) => {
    const looksInside = () => Promise.reject(new Error('read'))
    expect(await resolveMimeType(stored(contentType, encoding), path, looksInside)).toBe(type)
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
      const mimeType = await resolveMimeType(file ?? stored(), filename, () => typeOfContent(start))
      expect(mimeType.length).toBeLessThanOrEqual(255)
      expect(new MIMEType(mimeType).essence).toMatch(/^[\w.+-]+\/[\w.+-]+$/)
      const listed = fileResponse({ ...DOCUMENT, filename, mimeType } as never, { shape: 'native', label: 'native' })
      expect(Buffer.byteLength(JSON.stringify(JSON.stringify(listed)))).toBeLessThan(5400)
    }
    await assertProperty(fc.asyncProperty(headers, name, fc.uint8Array({ maxLength: 4096 }), oneFile), {
      numRuns: 1000,
    })
  })
})
