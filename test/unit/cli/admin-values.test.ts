import { describe, expect, it } from 'vitest'
import { duration } from '../../../infra/cli/terminal/output.ts'
import {
  listOf,
  parseDocumentId,
  parseDuration,
  parseExpiresIn,
  parseExpiry,
  parseKeyId,
  parsePermissions,
  parseRetention,
  parseSize,
} from '../../../infra/cli/terminal/parse-values.ts'

const PARSERS = { parseSize, parseDuration, parseRetention, parseExpiresIn, parseExpiry }
type Parser = keyof typeof PARSERS

const TAKEN: Record<Parser, Record<string, number>> = {
  parseSize: {
    ...{ '0': 0, '17B': 17, '10GiB': 10 * 2 ** 30, '10 GiB': 10 * 2 ** 30, '10gib': 10 * 2 ** 30, '1PiB': 2 ** 50 },
    ...{ '500MiB': 524_288_000, '5GB': 5_000_000_000, '10gb': 10_000_000_000, '1.5KiB': 1536, '0.001KB': 1 },
    ...{ '1.005KB': 1005, '4.35MB': 4_350_000, '9007199254740991': Number.MAX_SAFE_INTEGER },
  },
  parseDuration: {
    ...{ '0': 0, '30s': 30_000, '15m': 900_000, '24h': 86_400_000, '90d': 7_776_000_000, '1.5h': 5_400_000 },
    '2 weeks': 1_209_600_000,
  },
  parseRetention: { '1h': 3600, '3650d': 315_360_000, '90m': 5400, '36h': 129_600 },
  parseExpiresIn: { '1s': 1, '3650d': 315_360_000 },
  parseExpiry: {
    ...{ '2097-01-31': Date.UTC(2097, 0, 31), '2097-01-31T00:00Z': Date.UTC(2097, 0, 31) },
    '2097-01-31T10:00:30+02:00': Date.UTC(2097, 0, 31, 8, 0, 30),
  },
}
const REFUSED: [Parser, why: string, texts: string[]][] = [
  ['parseSize', 'is not a', ['', '10 000', ' 1', '-1', '+1', '1e9', '0x10', '10Gb', '10Gib', '10GiBs', '1,5GB', 'NaN']],
  ['parseSize', 'is not a', ['1.5', '0.0001KB', '.5GB', '5.GB', '5.', '5.5.5GB']],
  ['parseSize', 'is more than', ['9007199254740992', '10PB', '8192TiB', '99999999999999999999TB']],
  ['parseDuration', 'is not a', ['', '1 fortnight', '3', '-1d', '1e3d', '1,5h', 'd', '1d2h']],
  ['parseDuration', 'is more than', ['99999d']],
  ['parseRetention', 'is not ', ['0', '-1', '1e9', '7x', '3599s', '3600.5s', '3651d', '90', '2027-01-31', ' 1h']],
  ['parseExpiresIn', 'is not ', ['0', '0.5s', '999ms', '3651d', 'never']],
  ['parseExpiry', 'is not a time', ['', 'tomorrow', '2097-02-31', '2097-13-01', '2097-01-31T00:00']],
  ['parseExpiry', 'is ', ['2097-01-31T25:00Z', '2020-01-01', '9999-01-01']],
]

describe('sizes, durations and times', () => {
  const taken = Object.entries(TAKEN).flatMap(([parser, values]) =>
    Object.entries(values).map(([text, value]) => [parser as Parser, text, value] as const),
  )
  it.each(taken)('%s takes "%s" for %s', (parser, text, value) => {
    expect(PARSERS[parser](text)).toBe(value)
  })

  const refused = REFUSED.flatMap(([parser, why, texts]) => texts.map((text) => [parser, text, why] as const))
  it.each(refused)('%s refuses "%s", which %s', (parser, text, why) => {
    expect(() => PARSERS[parser](text)).toThrow(`"${text}" ${why}`)
  })

  it.each(Object.entries({ ...TAKEN.parseRetention, ...TAKEN.parseExpiresIn }))('shows %s as taken', (text, s) => {
    expect(duration(Number(s))).toBe(text)
  })

  it('takes a duration from now for an expiry', () => {
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
    const parseDocumentIds = listOf(parseDocumentId)
    expect(parseDocumentIds('file_1,file_2', parseDocumentIds('file_0'))).toEqual(['file_0', 'file_1', 'file_2'])
    for (const text of ['', ',', 'files:read,']) expect(() => parsePermissions(text)).toThrow('"" is not a permission')
  })
})
