import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'

export const ROOT = join(import.meta.dirname, '../..')
export const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

/** The cells of every line of a page's tables, or of those below one heading. */
export function tableRows(page: string, heading?: string): string[][] {
  const text = read(page)
  const part = heading === undefined ? text : (text.split(`\n${heading}\n`)[1] ?? '').split(/\n#{1,3} /)[0]
  return (part ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
    .map((line) => line.slice(2, -2).split(' | '))
}

/** Fails with the lines to add to a page, and those to take out of it. */
export function expectDocumentedNames(
  page: string,
  {
    documented,
    expected,
    line,
  }: { documented: Iterable<string>; expected: Iterable<string>; line(name: string): string },
): void {
  const there = new Set(documented)
  const wanted = new Set(expected)
  const toAdd = [...wanted].filter((name) => !there.has(name)).map((name) => `add to ${page}: ${line(name)}`)
  const toRemove = [...there].filter((name) => !wanted.has(name)).map((name) => `take out of ${page}: ${name}`)
  const all = [...toAdd, ...toRemove]
  expect(all, all.join('\n')).toEqual([])
}
