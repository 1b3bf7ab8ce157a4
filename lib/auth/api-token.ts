import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import baseX from 'base-x'

const base62 = baseX('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')
export const TOKEN_PREFIX = 'cfp_'
const KEY_ID_PREFIX = 'key_'
/** Base62 digits that hold 64 bits: they say whose key it is. */
export const OWNER_LENGTH = 11
/** Base62 digits that hold 96 bits: they say which key of its owner. */
const NAME_LENGTH = 17
/** Base62 digits that hold 160 random bits. */
const SECRET_LENGTH = 27
/** Base62 digits that hold a CRC32. */
const CHECKSUM_LENGTH = 6
const ID_LENGTH = OWNER_LENGTH + NAME_LENGTH
const TOKEN = new RegExp(`^${TOKEN_PREFIX}[0-9A-Za-z]{${ID_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH}}$`)
const KEY_ID = new RegExp(`^${KEY_ID_PREFIX}[0-9A-Za-z]{${ID_LENGTH}}$`)

/**
 * The public name of a key, which says where its record is, and not what is in it. It is made of hashes: a key with the
 * same name in the same workspace always has the same id.
 * @param workspaceId undefined: a platform key @param name omitted: an id that no other key has
 */
export function keyIdOf(workspaceId?: string, name?: string): string {
  const nameBytes = name === undefined ? randomBytes(12) : sha256(`${workspaceId ?? ''}/${name}`).subarray(0, 12)
  return KEY_ID_PREFIX + ownerHash(workspaceId) + digits(nameBytes, NAME_LENGTH)
}

export const isKeyId = (text: string) => KEY_ID.test(text)

/** The part of a key id that all keys of a workspace, or all platform keys, share. */
export const ownerHash = (workspaceId: string | undefined) =>
  workspaceId === undefined ? '0'.repeat(OWNER_LENGTH) : digits(sha256(workspaceId).subarray(0, 8), OWNER_LENGTH)

export const ownerHashIn = (keyId: string) => keyId.slice(KEY_ID_PREFIX.length, KEY_ID_PREFIX.length + OWNER_LENGTH)

/** `cfp_`, the id of its key, 160 random bits, and a checksum, so that typing errors are refused without a lookup. */
export function newToken(keyId = keyIdOf()): string {
  const body = TOKEN_PREFIX + keyId.slice(KEY_ID_PREFIX.length) + digits(randomBytes(20), SECRET_LENGTH)
  return body + checksum(body)
}

export const keyIdIn = (token: string) => KEY_ID_PREFIX + token.slice(TOKEN_PREFIX.length).slice(0, ID_LENGTH)

export function isWellFormedToken(token: string): boolean {
  return TOKEN.test(token) && token.endsWith(checksum(token.slice(0, -CHECKSUM_LENGTH)))
}

/** Stored instead of the token: SHA-256 in hex. No salt: 160 random bits need none. */
export const hashToken = (token: string) => sha256(token).toString('hex')

export const sha256 = (text: string) => createHash('sha256').update(text).digest()

/** In base62, always of this length. */
export const digits = (bytes: Uint8Array, length: number) => base62.encode(bytes).padStart(length, '0')

function checksum(body: string): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(body))
  return digits(bytes, CHECKSUM_LENGTH)
}
