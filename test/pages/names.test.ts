import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FINDING_KINDS } from '../../lib/audit/findings.ts'
import { PERMISSIONS } from '../../lib/auth/caller.ts'
import { METRICS } from '../../lib/metrics.ts'
import { OPENAPI } from '../support/api/openapi.ts'
import { ROOT, read, tableRows } from './pages.ts'

const firstCells = (page: string, heading: string) =>
  tableRows(page, heading).flatMap(([cell]) => /^`([\w:]+)`$/.exec(cell ?? '')?.[1] ?? [])

describe('every name has its line', () => {
  it('metrics where they are published', async () => {
    const files = await Array.fromAsync(glob('{lib,functions}/**/*.ts', { cwd: ROOT, exclude: ['lib/metrics.ts'] }))
    const text = files.map(read).join('\n')
    expect(Object.keys(METRICS).filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([])
  })

  it.each([
    ['docs/administration.md', '## Audit and repair', FINDING_KINDS],
    ['docs/security.md', '## What a stolen key can do', PERMISSIONS],
  ])('in a table of %s, %s, which has no other', (page, heading, names) => {
    expect(firstCells(page, heading).toSorted()).toEqual([...names].toSorted())
  })

  it('columns in the lists of docs/administration.md', () => {
    const printed = read('test/machine/__snapshots__/admin-output.test.ts.snap').split('\n')
    const shown = read('docs/administration.md').match(/^[A-Z]{3,}(?: {2,}[A-Z]+[A-Z ,]*)+$/gm) ?? []
    const headings = shown.map((line) => line.split(/ {2,}/).join('  '))
    expect(headings.length).toBeGreaterThan(3)
    expect(headings.filter((heading) => !printed.includes(heading))).toEqual([])
  })
})

it('the version is the same in CHANGELOG.md, package.json, package-lock.json and docs/openapi.yaml', () => {
  const { version } = JSON.parse(read('package.json'))
  // There is none before the first release.
  const [, newest = version] = /^## (\d+\.\d+\.\d+) /m.exec(read('CHANGELOG.md')) ?? []
  const lock = JSON.parse(read('package-lock.json'))
  expect([newest, lock.version, lock.packages[''].version, OPENAPI.info.version]).toEqual(Array(4).fill(version))
})

it('docs/runbook.md says of each metric what it counts or measures; -u writes a line to complete', async () => {
  const page = read('docs/runbook.md')
  const heading = '| Metric | Counts or measures |\n| --- | --- |\n'
  const [before = '', after = ''] = page.split(heading)
  const [written = ''] = /^(\|.*\n)*/.exec(after) ?? []
  const lineOf = (name: string) => written.split(/(?<=\n)/).find((line) => line.startsWith(`| \`${name}\` | `))
  const table = Object.keys(METRICS).map((name) => lineOf(name) ?? `| \`${name}\` | ? |\n`)
  const whole = `${before}${heading}${table.join('')}${after.slice(written.length)}`
  await expect(whole).toMatchFileSnapshot(join(ROOT, 'docs/runbook.md'))
  expect(table.filter((line) => /\| \??\s*\|$/m.test(line))).toEqual([])
})
