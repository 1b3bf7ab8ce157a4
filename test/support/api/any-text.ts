import fc from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }

/**
 * Any Unicode character but lone surrogates, as the unit 'binary' gives, but without the table of all characters, which
 * takes fast-check a second or two in each file.
 */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((number) => String.fromCodePoint(number < SURROGATES.first ? number : number + SURROGATES.count))

export const anyText = (length: { maxLength?: number } = {}) => fc.string({ unit: anyCharacter, ...length })
