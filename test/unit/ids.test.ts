import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import {
  documentIdFromHash,
  documentIdOfAttempt,
  formatFileId,
  newAttemptId,
  newRefundId,
  parseContainerId,
  parseFileId,
} from '../../lib/ids.ts'
import { anyText } from '../support/api/any-text.ts'
import { assertProperty } from '../support/assert-property.ts'

const encode = (bytes: string | Buffer) => `cfile_${Buffer.from(bytes as string).toString('base64url')}`
const detailOf = (call: () => unknown): string => {
  try {
    call()
  } catch (error) {
    return `${(error as { reason: string }).reason}: ${(error as { detail: string }).detail}`
  }
  return 'accepted'
}

describe('parseContainerId', () => {
  it.each(['a', 'sess_abc', 'sess_abc-r1f', '-', '_', 'A'.repeat(128)])('accepts %s as it is', (id) => {
    expect(parseContainerId(id)).toBe(id)
  })

  it.each([
    ['nothing', undefined],
    ['an empty one', ''],
    ['129 characters', 'a'.repeat(129)],
    ['a slash', 'a/b'],
    ['a dot', '..'],
    ['a line break at the end', 'abc\n'],
    ['a letter outside ASCII', 'sess_é'],
    ['a placeholder', '{workspace_id}'],
  ])('refuses %s', (_, id) => {
    expect(detailOf(() => parseContainerId(id))).toContain('invalid_container_id')
  })
})

describe('parseFileId', () => {
  it.each([
    'a',
    'a/b.txt',
    'отчёты/結果 📄.txt',
    ' leading and trailing ',
    '.hidden',
    '...',
    'a..b/c',
    '\ufeffbom',
    '$&',
    'a%2Fb',
  ])('reads the path %j back', (path) => {
    expect(parseFileId(formatFileId(path))).toBe(path)
  })

  it.each<[string, string | undefined, string]>([
    ['nothing', undefined, '"cfile_"'],
    ['an empty one', '', '"cfile_"'],
    ['another prefix', 'file-abc', '"cfile_"'],
    ['the prefix in capitals', `CFILE_${encode('a').slice(6)}`, '"cfile_"'],
    ['the id of a document', documentIdOfAttempt(newAttemptId()), 'id of a document'],
    ['the prefix alone', 'cfile_', '"cfile_"'],
    ['padding', 'cfile_YQ==', 'must be base64url without padding. The id of this path is cfile_YQ.'],
    ['the other base64 alphabet', 'cfile_Pz8/', 'without padding. The id of this path is cfile_Pz8_.'],
    ['a percent escape', 'cfile_YQ%3D%3d', 'The id of this path is cfile_YQ.'],
    ['a percent escape of the other alphabet', 'cfile_Pj8%2B', 'The id of this path is cfile_Pj8-.'],
    ['padding of a path that is none', 'cfile_Li4=', 'segment'],
    ['a broken percent escape', 'cfile_YQ%', '"cfile_"'],
    ['a space', 'cfile_Y Q', '"cfile_"'],
    ['a line break at the end', 'cfile_YQ\n', '"cfile_"'],
    ['an impossible length', 'cfile_YWJjZ', 'cut off'],
    ['loose bits at the end', 'cfile_YR', 'bits left over in its last character. The id of this path is cfile_YQ.'],
    ['an overlong slash', encode(Buffer.from([0x61, 0xc0, 0xaf, 0x62])), 'UTF-8'],
    ['an encoded surrogate', encode(Buffer.from([0xed, 0xa0, 0x80])), 'UTF-8'],
    ['a leading slash', encode('/etc/passwd'), 'relative'],
    ['a trailing slash', encode('dir/'), 'relative'],
    ['an empty segment', encode('a//b'), 'segment'],
    ['a dot segment', encode('a/./b'), 'segment'],
    ['the parent', encode('..'), 'segment'],
    ['a NUL', encode('a\u0000b'), 'control'],
    ['a DEL', encode('a\u007f'), 'control'],
    ['a C1 control character', encode('a\u0085'), 'control'],
    ['a path longer than any key', encode('x'.repeat(1025)), 'too long'],
  ])('refuses %s and says why', (_, id, why) => {
    const detail = detailOf(() => parseFileId(id))
    expect(detail).toContain('invalid_file_id')
    expect(detail).toContain(why)
  })

  it('gives each path one id only: whatever it accepts is the one spelling of that path', async () => {
    const anyId = fc.oneof(
      fc.base64String().map((text) => `cfile_${text}`),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => encode(Buffer.from(bytes))),
      anyText({ maxLength: 40 }).map((path) => encode(path)),
      fc.string().map((text) => `cfile_${text}`),
    )
    await assertProperty(
      fc.property(anyId, (id) => {
        if (detailOf(() => parseFileId(id)) === 'accepted') expect(formatFileId(parseFileId(id))).toBe(id)
      }),
      { numRuns: 5000 },
    )
  })
})

describe('new ids', () => {
  it.each([
    ['attempts', newAttemptId],
    ['refunds', newRefundId],
  ])('of %s sort by the time they were made', (_, make) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const ids: string[] = []
    for (const ms of [0, 1, 10, 1000, 60_000, 86_400_000, 31_536_000_000, 315_360_000_000]) {
      vi.setSystemTime(Date.parse('2026-11-21T09:38:35.556Z') + ms)
      for (let i = 0; i < 20; i++) ids.push(make())
    }
    vi.useRealTimers()
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids.map((id) => id.length)).size).toBe(1)
    expect(ids.every((id) => /^[1-9A-HJ-NP-Za-km-z]{21,22}$/.test(id))).toBe(true)
  })

  it('never repeat', () => {
    const ids = Array.from({ length: 1000 }, () => [newAttemptId(), newRefundId()]).flat()
    expect(new Set(ids).size).toBe(2000)
  })
})

describe('document ids', () => {
  it('tell the attempt of a plain promotion', () => {
    const attemptId = newAttemptId()
    expect(documentIdOfAttempt(attemptId)).toBe(`file_${attemptId}`)
  })

  it('follow from a text, as no attempt’s does', () => {
    const ids = Array.from({ length: 1000 }, (_, number) => documentIdFromHash(`ws_1\n${number}`))
    expect(ids).toEqual(ids.map((_, number) => documentIdFromHash(`ws_1\n${number}`)))
    expect(new Set(ids).size).toBe(1000)
    expect(ids.filter((id) => !/^file_[1-9A-HJ-NP-Za-km-z]{1,22}$/.test(id))).toEqual([])
  })
})
