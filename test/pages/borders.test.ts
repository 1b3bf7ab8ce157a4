import { globSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT, read, tableRows } from './pages.ts'

/** Only rooms that name these packages may import them; all others are free. */
const RESTRICTED = ['@aws-sdk', '@smithy', '@middy', 'aws-lambda']
/** The framework's files and the command's entry stand beside the rooms. */
const FILES = globSync('{lib,functions,infra/{bundle,deploy,local,cli}}/**/*.{ts,mjs}', { cwd: ROOT })

const named = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string)
const rows = tableRows('docs/architecture.md', '## Borders').slice(1)
const rooms = rows.flatMap(([room]) => named(room as string))
const ofLib = rooms.filter((room) => /^lib\b/.test(room))
const allowed = new Map<string, Set<string>>()
for (const [room = '', cell = ''] of rows) {
  const names = named(cell).flatMap((name) => (name === 'lib/' ? [...ofLib, ...RESTRICTED] : name))
  for (const each of named(room)) {
    const before = cell.includes('those named before') ? named(room).slice(0, named(room).indexOf(each)) : []
    allowed.set(each, new Set([each, ...names, ...before]))
  }
}

/** The longest name of a room that a file is in. */
const roomOf = (path: string) =>
  rooms.filter((room) => path.startsWith(`${room}/`)).toSorted((a, b) => b.length - a.length)[0]

/** Imports of a file, types included, that its room may not have. */
function trespasses(path: string, text: string): string[] {
  const imported = [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'([^']+)'/g)].map(([, name]) => name as string)
  return imported.filter((name) => {
    const target = name.startsWith('.')
      ? relative(ROOT, join(ROOT, dirname(path), name))
      : RESTRICTED.find((each) => name === each || name.startsWith(`${each}/`))
    if (target === undefined || target === 'package.json') return false
    return !allowed.get(roomOf(path) ?? '')?.has(name.startsWith('.') ? (roomOf(target) ?? target) : target)
  })
}

describe('the borders of docs/architecture.md', () => {
  it('name every room', () => {
    expect(FILES.filter((path) => roomOf(path) === undefined)).toEqual([])
    expect(rooms.filter((room) => !FILES.some((path) => roomOf(path) === room))).toEqual([])
  })

  it('let no two rooms import each other: none imports a later one', () => {
    const later = rooms.flatMap((room, i) => rooms.slice(i + 1).filter((other) => allowed.get(room)?.has(other)))
    expect(later).toEqual([])
  })

  it('are kept by every file', () => {
    const found = FILES.flatMap((path) => trespasses(path, read(path)).map((name) => `${path} imports ${name}`))
    expect(found).toEqual([])
  })

  const WAYS = ["import type { X } from 'NAME'", "export * from 'NAME'", "await import('NAME')", "import 'NAME'"]
  it.each(WAYS)('see every way of importing what a row does not name: %s', (way) => {
    for (const name of ['../../infra/local/x.ts', '../../test/x.ts', '@aws-sdk/x'])
      expect(trespasses('lib/ledger/planted.ts', way.replace('NAME', name))).toEqual([name])
  })
})
