import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { hashToken, isWellFormedToken, keyIdOf, newToken } from '../../../lib/auth/api-token.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

it('newToken is cfp_, 43 random base62 characters and the base62 CRC32 of these, every time another', () => {
  const tokens = Array.from({ length: 500 }, newToken)
  expect(new Set(tokens).size).toBe(500)
  for (const token of tokens) {
    expect(token).toMatch(/^cfp_[0-9A-Za-z]{49}$/)
    const checksum = [...token.slice(-6)].reduce((sum, char) => sum * 62 + ALPHABET.indexOf(char), 0)
    expect(checksum).toBe(crc32(token.slice(0, -6)))
  }
})

describe('isWellFormedToken', () => {
  const token = newToken()

  it('accepts what newToken makes', () => {
    expect(isWellFormedToken(token)).toBe(true)
  })

  it('refuses a token with any one character changed', () => {
    for (let i = 0; i < token.length; i++) {
      const changed = token.slice(0, i) + (token[i] === 'a' ? 'b' : 'a') + token.slice(i + 1)
      expect(isWellFormedToken(changed), changed).toBe(false)
    }
  })

  it.each([
    '',
    'cfp_',
    `${token}0`,
    token.slice(0, -1),
    ` ${token}`,
    `${token}\n`,
    token.toLowerCase(),
    `sk-${token.slice(4)}`,
  ])('refuses %j', (text) => {
    expect(isWellFormedToken(text)).toBe(false)
  })
})

it('hashToken is SHA-256 in hex', () => {
  expect(hashToken('cfp_x')).toBe(createHash('sha256').update('cfp_x').digest('hex'))
})

it('keyIdOf names a key by the first 48 bits of its hash', () => {
  expect(keyIdOf('0123456789abcdef0123456789abcdef')).toBe('key_0123456789ab')
})
