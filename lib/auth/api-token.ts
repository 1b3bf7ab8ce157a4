import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import baseX from 'base-x'

const base62 = baseX('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')
export const TOKEN_PREFIX = 'cfp_'
const SECRET_BYTES = 32
/** Base62 digits that hold 256 bits. */
const SECRET_LENGTH = 43
/** Base62 digits that hold a CRC32. */
const CHECKSUM_LENGTH = 6
const TOKEN = new RegExp(`^${TOKEN_PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`)

/** `cfp_`, 256 random bits, and a checksum, so that typing errors are refused without a lookup. */
export function newToken(): string {
  const body = TOKEN_PREFIX + base62.encode(randomBytes(SECRET_BYTES)).padStart(SECRET_LENGTH, '0')
  return body + checksum(body)
}

export function isWellFormedToken(token: string): boolean {
  return TOKEN.test(token) && token.endsWith(checksum(token.slice(0, -CHECKSUM_LENGTH)))
}

/** The key of the token's record, stored instead of the token: SHA-256 in hex. No salt: 256 random bits need none. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** The public name of a key: 48 bits of its hash. Two keys could share one, but hardly ever do. */
export function keyIdOf(tokenHash: string): string {
  return `key_${tokenHash.slice(0, 12)}`
}

function checksum(body: string): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(body))
  return base62.encode(bytes).replace(/^0+/, '').padStart(CHECKSUM_LENGTH, '0')
}
