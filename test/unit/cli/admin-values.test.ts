import { describe, expect, it } from 'vitest'
import { duration } from '../../../infra/cli/terminal/output.ts'
import {
  parseDocumentIds,
  parseDuration,
  parseExpiresIn,
  parseExpiry,
  parseKeyId,
  parsePermissions,
  parseRetention,
  parseSize,
} from '../../../infra/cli/terminal/parse-values.ts'

describe('parseSize', () => {
  const TAKEN = {
    ...{ '0': 0, '17B': 17, '10GiB': 10 * 2 ** 30, '10 GiB': 10 * 2 ** 30, '10gib': 10 * 2 ** 30, '1PiB': 2 ** 50 },
    ...{ '500MiB': 524_288_000, '5GB': 5_000_000_000, '10gb': 10_000_000_000, '1.5KiB': 1536, '0.001KB': 1 },
    ...{ '1.005KB': 1005, '4.35MB': 4_350_000, '9007199254740991': Number.MAX_SAFE_INTEGER },
  }
  it.each(Object.entries(TAKEN))('takes %s for %i bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes)
  })

  const REFUSED = '-1 +1 1e9 0x10 10Gb 10Gib 10GiBs 1,5GB 1.5 0.0001KB .5GB 5.GB 5. 5.5.5GB NaN'
  it.each(['', '10 000', ' 1', ...REFUSED.split(' ')])('refuses "%s"', (text) => {
    expect(() => parseSize(text)).toThrow(/is not a/)
  })

  it.each(['9007199254740992', '10PB', '8192TiB', '99999999999999999999TB'])('refuses %s', (text) => {
    expect(() => parseSize(text)).toThrow()
  })
})

describe('durations and times', () => {
  const TAKEN = { '0': 0, '30s': 30_000, '15m': 900_000, '24h': 86_400_000, '90d': 7_776_000_000, '1.5h': 5_400_000 }
  it.each(Object.entries({ ...TAKEN, '2 weeks': 1_209_600_000 }))('takes %s for %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each(['', '1 fortnight', ...'3 -1d 1e3d 99999d 1,5h d 1d2h'.split(' ')])('refuses the duration "%s"', (text) => {
    expect(() => parseDuration(text)).toThrow()
  })

  it.each([
    [3600, '1h', 'parseRetention'],
    [315_360_000, '3650d', 'parseRetention'],
    [5400, '90m', 'parseRetention'],
    [129_600, '36h', 'parseRetention'],
    [1, '1s', 'parseExpiresIn'],
    [315_360_000, '3650d', 'parseExpiresIn'],
  ] as const)('takes %i seconds as they are shown: %s, for %s', (seconds, text, parser) => {
    expect({ parseRetention, parseExpiresIn }[parser](text)).toBe(seconds)
    expect(duration(seconds)).toBe(text)
  })

  it.each(['0', '-1', '1e9', '7x', '3599s', '3600.5s', '3651d', '90', '2027-01-31', ' 1h'])(
    'refuses to keep documents for "%s"',
    (text) => {
      expect(() => parseRetention(text)).toThrow(`"${text}" is not `)
    },
  )

  it.each(['0', '0.5s', '999ms', '3651d', 'never'])('refuses to let a document expire in "%s"', (text) => {
    expect(() => parseExpiresIn(text)).toThrow(`"${text}" is not `)
  })

  it.each([
    ['2097-01-31', '2097-01-31T00:00:00.000Z'],
    ['2097-01-31T00:00Z', '2097-01-31T00:00:00.000Z'],
    ['2097-01-31T10:00:30+02:00', '2097-01-31T08:00:30.000Z'],
  ])('takes %s for %s', (text, iso) => {
    expect(new Date(Number(parseExpiry(text))).toISOString()).toBe(iso)
  })

  const NO_TIMES = 'tomorrow 2097-02-31 2097-13-01 2097-01-31T00:00 2097-01-31T25:00Z 2020-01-01 9999-01-01'
  it.each(['', ...NO_TIMES.split(' ')])('refuses the time "%s"', (text) => {
    expect(() => parseExpiry(text)).toThrow()
  })

  it('takes a time, a duration from now, or never for an expiry', () => {
    expect(parseExpiry('never')).toBe('never')
    expect(parseExpiry('2097-01-31')).toBe(Date.parse('2097-01-31'))
    expect(Math.abs(Number(parseExpiry('1h')) - Date.now() - 3_600_000)).toBeLessThan(1000)
  })
})

describe('ids and permissions', () => {
  it('refuses a token where a key id belongs, without repeating it', () => {
    expect(() => parseKeyId('cfp_secret')).toThrow(/^(?!.*secret).*this is a token/)
  })

  it('refuses a permission that does not exist, and counts one given twice once', () => {
    expect(() => parsePermissions('files:*')).toThrow('"files:*" is not a permission')
    expect(parsePermissions('files:promote', ['files:promote'])).toEqual(['files:promote'])
  })

  it('takes several with commas between them, after those of earlier arguments', () => {
    const [read, both] = ['files:read', 'files:promote,files:read'] as const
    expect(parsePermissions(both, parsePermissions(read))).toEqual(['files:read', 'files:promote'])
    expect(parseDocumentIds('file_1,file_2', parseDocumentIds('file_0'))).toEqual(['file_0', 'file_1', 'file_2'])
    for (const text of ['', ',', 'files:read,']) expect(() => parsePermissions(text)).toThrow('"" is not a permission')
  })
})
