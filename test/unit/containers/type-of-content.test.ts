import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { bundle } from '../../../infra/bundle/build.ts'
import { resolveMimeType } from '../../../lib/containers/mime-type.ts'
import { typeOfContent } from '../../../lib/containers/type-of-content.ts'
import { assertProperty } from '../../support/assert-property.ts'
import { useDirectory } from '../../support/use-directory.ts'

const PLAIN = 'text/plain; charset=utf-8'
const directory = useDirectory('types')
const UNKNOWN = 'application/octet-stream'
const OPEN_TEXT = 'application/vnd.oasis.opendocument.text'
const OFFICE = 'application/vnd.openxmlformats-officedocument'
const [SHEET, DOCUMENT] = [`${OFFICE}.spreadsheetml.sheet`, `${OFFICE}.wordprocessingml.document`]

const text = (content: string) => Buffer.from(content)
/** A mark, and what makes it binary. */
const hex = (mark: string, length = 64) => Buffer.concat([Buffer.from(mark, 'hex')], length)
const latin1 = (mark: string, length = 64) => Buffer.concat([Buffer.from(mark, 'latin1')], length)
const at = (offset: number, mark: string) => latin1('\0'.repeat(offset) + mark, 600)
const zip = (...names: [string, string][]) =>
  Buffer.from(zipSync(Object.fromEntries(names.map(([name, content]) => [name, text(content)])), { level: 0 }))
const office = (part: string, type: string): [string, string][] => [
  ['[Content_Types].xml', `<Types><Override PartName="/${part}" ContentType="${type}.main+xml"/></Types>`],
  [part, '<x/>'],
]

// cspell:disable -- marks of formats
/** A name, what is in the file, its type by name (undefined: the name tells nothing) and by content alone. */
const FILES: [string, Buffer, string | undefined, string][] = [
  ['a.pdf', latin1('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n\0'), 'application/pdf', 'application/pdf'],
  ['text.pdf', text('%PDF-1.4\n1 0 obj\n'), 'application/pdf', 'application/pdf'],
  ['latin.pdf', Buffer.from('%PDF-1.4\n%\xe2\xe3\n', 'latin1'), 'application/pdf', 'application/pdf'],
  ['a.docx', zip(...office('word/document.xml', DOCUMENT)), DOCUMENT, DOCUMENT],
  ['a.xlsx', zip(...office('xl/workbook.xml', SHEET)), SHEET, SHEET],
  ['openpyxl.xlsx', zip(['docProps/app.xml', ' '], ['xl/theme/theme1.xml', ' '.repeat(5000)]), SHEET, SHEET],
  ['a.odt', zip(['mimetype', OPEN_TEXT]), OPEN_TEXT, ''],
  ['a.rtf', text('{\\rtf1\\ansi x}'), 'application/rtf', 'application/rtf'],
  ['a.doc', hex('d0cf11e0a1b11ae1'), 'application/msword', 'application/x-cfb'],
  ['a.ps', text('%!PS-Adobe-3.0\n'), 'application/postscript', 'application/postscript'],
  ['a.html', text('\ufeff<!-- x -->\n<!DOCTYPE html>\n<p>'), 'text/html', 'text/html'],
  ['latin.html', Buffer.from('<html><p>é', 'latin1'), 'text/html', 'text/html'],
  ['a.md', text('# A <html> page\n'), 'text/markdown', PLAIN],
  ['a.ics', text('BEGIN:VCALENDAR\r\n'), 'text/calendar', 'text/calendar'],
  ['a.vtt', text('WEBVTT\n\n'), 'text/vtt', 'text/vtt'],
  ['a.png', hex('89504e470d0a1a0a0000000d49484452'), 'image/png', 'image/png'],
  ['a.bmp', latin1('BM\x46\0\0\0'), 'image/bmp', 'image/bmp'],
  ['a.tif', hex('49492a0008000000'), 'image/tiff', 'image/tiff'],
  ['a.ico', hex('000001000100101000000100200068040000160000'), 'image/vnd.microsoft.icon', 'image/x-icon'],
  ['a.svg', text('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml', 'image/svg+xml'],
  ['b.svg', text('<?xml version="1.0"?>\n<!-- by x -->\n<svg:svg>'), 'image/svg+xml', 'image/svg+xml'],
  ['c.svg', text('<?xml version="1.0"?><!DOCTYPE svg PUBLIC "x">'), 'image/svg+xml', 'image/svg+xml'],
  ['a.mp3', latin1('ID3\x04\0\0\0\0\x7f\x7f'), 'audio/mpeg', 'audio/mpeg'],
  ['a.wav', latin1('RIFF\x24\0\0\0WAVEfmt '), 'audio/wav', 'audio/wav'],
  ['a.mp4', latin1('\0\0\0\x18ftypisom'), 'video/mp4', 'video/mp4'],
  ['a.webm', hex('1a45dfa387428284' + '7765626d'), 'video/webm', 'video/webm'],
  ['a.zip', zip(['a', 'b']), 'application/zip', 'application/zip'],
  ['a.tar', at(257, 'ustar\0'), 'application/x-tar', 'application/x-tar'],
  ['a.gz', gzipSync('a'), 'application/gzip', 'application/gzip'],
  ['a.zst', hex('28b52ffd240161'), 'application/zstd', 'application/zstd'],
  ['a.bz2', latin1('BZh91AY&SY'), 'application/x-bzip2', 'application/x-bzip2'],
  ['a.xz', latin1('\xfd7zXZ\0'), 'application/x-xz', 'application/x-xz'],
  ['a.jar', zip(['META-INF/MANIFEST.MF', '']), 'application/java-archive', 'application/java-archive'],
  ['a.csv', text('a,b\n'), 'text/csv', PLAIN],
  ['a.json', text('{}'), 'application/json', PLAIN],
  ['a.jsonl', text('{}\n'), 'application/jsonl', PLAIN],
  ['a.xml', text('<?xml version="1.0"?><a/>'), 'application/xml', 'application/xml'],
  ['a.ipynb', text('{}'), 'application/x-ipynb+json', PLAIN],
  ['a.parquet', latin1('PAR1\x15\x04'), undefined, 'application/vnd.apache.parquet'],
  ['a.arrow', latin1('ARROW1\0\0'), undefined, 'application/vnd.apache.arrow.file'],
  ['a.sqlite', latin1('SQLite format 3\0'), undefined, 'application/x-sqlite3'],
  ['a.npy', latin1('\x93NUMPY\x01\0'), undefined, UNKNOWN],
  ['a.ttf', hex('0001000000110100000400104753'), 'font/ttf', 'font/ttf'],
  ['a.wasm', latin1('\0asm\x01\0\0\0'), 'application/wasm', 'application/wasm'],
  ['a.stl', text('solid cube\n facet normal 0 0 1\n'), 'model/stl', 'model/stl'],
  ['a.py', text('import os\n'), undefined, PLAIN],
]
// cspell:enable

describe('the type of a file', () => {
  it.each(FILES)('%s', async (name, bytes, byName, byContent) => {
    const found = await typeOfContent(bytes.subarray(0, 4096))
    const named = await resolveMimeType({ contentType: undefined, contentEncoding: undefined }, name, async () => found)
    expect([named, found]).toEqual([byName ?? byContent, byContent || byName])
  })

  it('is found in a Lambda as it is here, although what it needs no part of is left out there', async () => {
    const root = join(import.meta.dirname, '../../..')
    await bundle(['lib/containers/type-of-content.ts'], { root, outDir: directory() })
    const bundled: typeof typeOfContent = (await import(join(directory(), 'type-of-content.mjs'))).typeOfContent
    for (const [name, bytes] of FILES) expect([name, await bundled(bytes)]).toEqual([name, await typeOfContent(bytes)])
  })

  it.each<[string, Buffer, string]>([
    ['cut inside a character', text('結果と報告').subarray(0, 13), PLAIN],
    ['text in Latin-1', Buffer.from('café a', 'latin1'), UNKNOWN],
    ['text in Latin-1 that begins like a picture', Buffer.from('BMI = café a', 'latin1'), UNKNOWN],
    ['text in UTF-16', hex('fffe61000a00', 6), 'text/plain; charset=utf-16le'],
    ['text in UTF-16, the other way round', hex('feff0061000a', 6), 'text/plain; charset=utf-16be'],
    ['XML in UTF-16', Buffer.from('\ufeff<?xml version="1.0"?>', 'utf16le'), 'application/xml'],
    ['text in UTF-32', hex('fffe000061000000', 8), UNKNOWN],
    ['an Arrow stream', hex('ffffffff80000000'), UNKNOWN],
    ['numbers that begin like an icon', hex('0000010003000000050000000700000009000000'), UNKNOWN],
    ['numbers that begin like a font', hex('000100000001000000010000'), UNKNOWN],
    ['numbers of which two are the mark of video', hex(`47${'0102'.repeat(93)}0047`, 4096), UNKNOWN],
    ['zlib', hex('78014bcc'), UNKNOWN],
    ['bytes', hex('01020300ff', 5), UNKNOWN],
    ['a solid argument', text('solid argument\nfor it\n'), PLAIN],
    ['a vCard', text('BEGIN:VCARD\n'), 'text/vcard'],
    ['SMIL', text('<smil>'), 'application/smil+xml'],
    ['a custom element', text('<html-part></html-part>'), PLAIN],
    ['comments only', text(`${'<!---->'.repeat(500)}<p>`), PLAIN],
    ['a PGP key', text('-----BEGIN PGP PUBLIC KEY BLOCK-----\n'), 'application/pgp-keys'],
    ['a PGP message', text('-----BEGIN PGP MESSAGE-----\n'), 'application/pgp-encrypted'],
    ['a PGP signature', text('-----BEGIN PGP SIGNATURE-----\n'), 'application/pgp-signature'],
    ['FITS with a long header', text(`SIMPLE  = ${'T'.padStart(20)} / conforms to FITS standard`), 'application/fits'],
    ['FITS with data', latin1(`SIMPLE  = ${'T'.padStart(20)}`, 4096), 'application/fits'],
    ['a setting that begins like FITS', text('SIMPLE  = true'), PLAIN],
    ['a signed text', text('-----BEGIN PGP SIGNED MESSAGE-----\n'), PLAIN],
  ])('by content: %s', async (_, bytes, type) => {
    expect(await typeOfContent(bytes)).toBe(type)
  })

  // cspell:disable -- marks of formats
  const MARKS = [
    ...['BM', 'BMI = weight', 'GIF', 'GIF89a', 'MAC ', 'MZ', 'FORM', 'ID3', 'FWS', 'CWS', 'SQLi', 'BZh', 'BZh9', '%!'],
    ...['MP+', 'MPCK', 'FLIF', '8BPS', 'icns', 'PK', 'OggS', 'MThd', 'wOFF', 'DSD ', 'LZIP', 'fLaC', 'wvpk', 'Cr24'],
    ...['MSCF', 'ISc(', '!BDN', 'PAR1', 'ttcf', 'regf', '$FL2', '#!AMR', 'IMPM', 'ab-lh5-', 'ITSF', '.RMF', 'DRACO'],
    ...['solid ', 'AC1015', '070707', 'BLENDER', '!<arch>\n', '0000free', '0000mdat', 'gimp xcf ', '0000ftypmp4'],
    ...['REGEDIT4\r\n', 'RIFF0000WEBP', 'RIFF0000WAVE', 'FRM8', 'FUJIFILMCCD-RAW', 'Extended Module:', 'Rar!', '7z'],
    ...['Creative Voice File', '0000000**ACE00**', 'Kaydara FBX Binary  ', `G${'-'.repeat(187)}G`, 'II*', 'MM', 'TZif'],
    ...[`${'-'.repeat(257)}ustar `, `${'-'.repeat(128)}DICM`, `${'-'.repeat(60)}BOOKMOBI`, `${'-'.repeat(36)}acsp`],
  ]
  // cspell:enable
  it('of text without control characters is one of text, whatever it begins with', async () => {
    const TEXTUAL = /^(text\/|image\/svg\+xml$|model\/stl$|application\/(pdf|postscript|rtf|pgp-\w+|(smil\+)?xml)$)/
    const characters = fc.oneof(fc.integer({ min: 9, max: 0x7f }), fc.nat({ max: 0x10ffff }))
    const anything = fc
      .array(characters, { maxLength: 300 })
      .map((all) => String.fromCodePoint(...all).replace(/(?![\t\n\f\r])\p{Cc}/gu, ''))
    const start = fc.oneof(fc.constantFrom(...MARKS), fc.constantFrom('', '\ufeff', ' ', '<svg', '<html', '%PDF-'))
    const oneText = async (mark: string, rest: string) => {
      expect(await typeOfContent(text(mark + rest || ' '))).toMatch(TEXTUAL)
    }
    await assertProperty(fc.asyncProperty(start, anything, oneText), { numRuns: 2000 })
  })
})
