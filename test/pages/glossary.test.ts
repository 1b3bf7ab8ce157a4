import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { OPENAPI } from '../support/api/openapi.ts'
import { ROOT, read, tableRows } from './pages.ts'

const PAGE = 'docs/glossary.md'
const MOST_WORDS = 42
/** A line may explain some words together. */
const entriesOf = (heading: string) =>
  tableRows(PAGE, heading).flatMap(([words = '', meaning = '']) =>
    words === 'Word' ? [] : words.split(', ').map((word) => [word, meaning] as const),
  )
const ENTRIES = ['## The ledger', '## The audit', '## Requests and stores'].flatMap(entriesOf)

/** `nameRefund` and `promotion_in_progress` are more than one. */
const split = (text: string) =>
  text
    .replace(/([a-z\d])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3 $2$4')
    .replaceAll(/[\s_*-]+/g, ' ')
    .toLowerCase()
const wordsOf = (name: string) => split(name).match(/[a-z][a-z\d]*/g) ?? []

const SOURCES = globSync('lib/{ledger,promotion,audit,auth,aws}/**/*.ts', { cwd: ROOT }).map(read)

/** What English, engineering, AWS and its SDK, HTTP and GCRA (`emission`, `tolerance`) mean by them. */
const PLAIN = `
  abort add administration all any archived arrived as attributes audit audited authenticate aws begin bucket
  bus call caller cancel choose client clock closing compare connected connections context copied copies copy correct
  count create db decision decode deletion dependencies describe digits discard dynamo earlier emission encode
  enter entry erased event expired expiry fact failure find forgotten formed found free get grant hash head index
  interval item join keep kept kms least limiter listed listing log longer longest length lookups maintained maintenance many
  map matches missing ms named never nothing now of on once one only options or outage owner parallel part partition pause pay
  pending perform pinned plan preconditions prefixes process projection promotable promotion put query queue range rate read
  ready record refused region remove report require resolve run s3 sandbox scan send sent server set setting side
  signer skew skip soon sorted spent start state storage store stored stream sum table take target task throttled time
  timeout tolerance unanswered units update upload usage was well whole why with without work
  writer written
`
  .trim()
  .split(/\s+/)

/** Names of operations, parameters, fields and schemas of the interface. */
function interfaceNames(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return []
  const { operationId, in: place, name, properties } = part as Record<string, unknown>
  const named = [operationId, place && name].filter((each) => typeof each === 'string')
  return [...named, ...Object.keys(properties ?? {}), ...Object.values(part).flatMap(interfaceNames)]
}
const INTERFACE = [...interfaceNames(OPENAPI), ...Object.keys(OPENAPI.components.schemas)]

/** Functions, types and constants that a file exports, and the methods of its interfaces. */
function exportedNames(source: string): string[] {
  const declared = source.matchAll(/^export (?:async )?(?:function\*?|const|type|interface|class) (\w+)/gm)
  const bodies = [...source.matchAll(/^export interface [^{]*\{\n([\s\S]*?)^\}/gm)]
  const methods = bodies.flatMap(([, body = '']) => [...body.matchAll(/^ {2}(\w+)(?:\(|<|\??: \()/gm)])
  return [...declared, ...methods].map(([, name = '']) => name)
}

const OF_PAGE = ENTRIES.flatMap(([word]) => wordsOf(word))
const known = new Set([...OF_PAGE, ...PLAIN, ...INTERFACE.flatMap(wordsOf)])
const isKnown = (word: string) => known.has(word) || known.has(word.replace(/s$/, ''))
const unknownWords = (source: string) => [...new Set(exportedNames(source).flatMap(wordsOf))].filter((w) => !isKnown(w))

describe(PAGE, () => {
  it(`has at most ${MOST_WORDS} words, each once`, () => {
    const words = ENTRIES.map(([word]) => word)
    expect(words.length).toBeGreaterThan(MOST_WORDS / 2)
    expect(words.length).toBeLessThanOrEqual(MOST_WORDS)
    expect(new Set(words).size).toBe(words.length)
  })

  it.each(ENTRIES)('%s: is a word of the code', (word, meaning) => {
    expect(split(SOURCES.join('\n'))).toMatch(new RegExp(`\\b${word}`))
    expect(meaning.length).toBeGreaterThan(20)
  })

  it('has each word of an exported name that is neither plain nor of the interface', () => {
    expect(unknownWords(SOURCES.join('\n'))).toEqual([])
  })

  it('is not replaced by the list of plain words, of which the code uses all', () => {
    const used = new Set(SOURCES.flatMap(exportedNames).flatMap(wordsOf))
    const isUsed = (word: string) => used.has(word) || used.has(`${word}s`)
    expect(PLAIN.filter((word) => !isUsed(word) || OF_PAGE.includes(word))).toEqual([])
  })
})
