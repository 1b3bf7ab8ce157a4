import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { hashToken, isWellFormedToken, keyIdOf, newToken, ownerHash, ownerHashIn } from '../../../lib/auth/api-token.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

it('newToken is cfp_, 55 base62 characters and the base62 CRC32 of these, every time another', () => {
  const tokens = Array.from({ length: 500 }, () => newToken())
  expect(new Set(tokens).size).toBe(500)
  for (const token of tokens) {
    expect(token).toMatch(/^cfp_[0-9A-Za-z]{61}$/)
    const checksum = [...token.slice(-6)].reduce((sum, char) => sum * 62 + ALPHABET.indexOf(char), 0)
    expect(checksum).toBe(crc32(token.slice(0, -6)))
  }
})

describe('isWellFormedToken', () => {
  const token = newToken()

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

describe('keyIdOf', () => {
  it('names the key with a name always alike, and one without it every time anew', () => {
    expect(keyIdOf('ws_1', 'ci')).toBe(keyIdOf('ws_1', 'ci'))
    const unnamed = [keyIdOf('ws_1'), keyIdOf('ws_1')]
    const others = [...unnamed, keyIdOf('ws_1', 'CI'), keyIdOf('ws_2', 'ci'), keyIdOf(undefined, 'ci')]
    expect(new Set([...others, keyIdOf('ws_1', 'ci')]).size).toBe(6)
    for (const keyId of others) expect(keyId).toMatch(/^key_[0-9A-Za-z]{28}$/)
  })

  it('begins alike for the keys of one workspace, and for no two workspaces', () => {
    const begins = Array.from({ length: 500 }, (_, n) => ownerHashIn(keyIdOf(`ws_${n}`, `${n}`)))
    expect(begins).toEqual(Array.from({ length: 500 }, (_, n) => ownerHash(`ws_${n}`)))
    expect(new Set([...begins, ownerHashIn(keyIdOf())]).size).toBe(501)
  })
})
