import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dispositionOf } from '../../lib/files/content-disposition.ts'
import { anyText } from '../support/api/any-text.ts'
import { assertProperty } from '../support/assert-property.ts'

const named = (header: string) => {
  const [, fallback, extended] =
    /^attachment; filename="([^"\\]*)"; filename\*=UTF-8''([\w!#$&+.^`|~%-]*)$/.exec(header) ?? []
  return { fallback, name: decodeURIComponent(extended ?? '?') }
}

describe('dispositionOf', () => {
  it.each([
    ['a/b/report.csv', 'report.csv', 'report.csv'],
    ['отчёт.txt', '_____.txt', 'отчёт.txt'],
    ['📄.txt', '_.txt', '📄.txt'],
    ['say "hi".txt', 'say _hi_.txt', 'say "hi".txt'],
    ['100%.txt', '100_.txt', '100%.txt'],
    ["it's (1)*.txt", "it's (1)*.txt", "it's (1)*.txt"],
    ['a;b=c, d.txt', 'a;b=c, d.txt', 'a;b=c, d.txt'],
    ['..\\..\\evil.bat', '.._.._evil.bat', '.._.._evil.bat'],
    ['C:\\a.txt:b', 'C__a.txt_b', 'C__a.txt_b'],
  ])('names %s', (path, fallback, name) => {
    expect(named(dispositionOf(path))).toEqual({ fallback, name })
  })

  it.each([
    ['turns the rest around', 'inv\u202efdp.exe', 'inv_fdp.exe'],
    ['isolates', '\u2067a\u2069.txt', '_a_.txt'],
    ['marks a direction', 'a\u061cb\u200e\u200f.txt', 'a_b__.txt'],
    ['has no width', 'a\u200bb\ufeff.txt', 'a_b_.txt'],
    ['breaks a line', 'a\u2028b.txt', 'a_b.txt'],
    ['is a tag', 'a\u{e0041}.txt', 'a_.txt'],
  ])('replaces what %s', (_, path, name) => {
    expect(named(dispositionOf(path)).name).toBe(name)
  })

  it.each([
    ['is as long as it may be', `${'x'.repeat(251)}.csv`, `${'x'.repeat(251)}.csv`],
    ['is as long as it may be, not all of it UTF-16', `\ud800${'x'.repeat(252)}`, `\ufffd${'x'.repeat(252)}`],
    ['is a byte too long', `${'x'.repeat(252)}.csv`, `${'x'.repeat(251)}.csv`],
    ['has characters of four bytes', `${'📄'.repeat(300)}.csv`, `${'📄'.repeat(62)}.csv`],
    ['has no extension', 'x'.repeat(300), 'x'.repeat(255)],
    ['has a dot, and no extension at its end', `a.csv ${'x'.repeat(300)}`, `a.csv ${'x'.repeat(249)}`],
    ['has an extension that is too long to be one', `a.${'x'.repeat(300)}`, `a.${'x'.repeat(253)}`],
    ['is too long by its last character', `${'x'.repeat(254)}é`, 'x'.repeat(254)],
  ])('keeps 255 bytes of a name that %s', (_, given, kept) => {
    expect(named(dispositionOf(given)).name).toBe(kept)
  })

  it('encodes in upper case, as RFC 3986 §2.1 wants it', () => {
    expect(dispositionOf('a*(b)')).toContain('%2A%28b%29')
  })

  it('is one header value of visible ASCII, whatever the path is', async () => {
    await assertProperty(
      fc.property(anyText({ maxLength: 400 }), (path) => {
        const header = dispositionOf(path)
        expect(header).toMatch(/^[\x20-\x7e]+$/)
        expect(named(header).fallback, header).toBeDefined()
        // In a URL, its percent signs are encoded once more.
        expect(encodeURIComponent(header).length).toBeLessThan(2000)
      }),
      { numRuns: 2000 },
    )
  })
})
