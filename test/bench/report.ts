import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { Row } from './bench.ts'
import type { Ran } from './benches.ts'
import { ROOT } from './bundles.ts'

const FOLDER = join(ROOT, 'docs/bench')
const RESULTS = join(FOLDER, 'results.json')
export const PERFORMANCE_DOC = join(ROOT, 'docs/performance.md')
/** A line of a table; its first cell may name a row of the results. */
const LINE = /^\| ([^|]+) \|.*\|$/gm
const HEADINGS = ['', 'bar', 'measured', '']

/** A stored result: nothing in it names the machine or its place. */
interface StoredBench {
  title: string
  date: string
  nodeVersion: string
  processors: number
  rows: Row[]
}
type Stored = Record<string, StoredBench>

/** One table of all benches, in plain text. */
export function renderTable(results: readonly Ran[]): string {
  const groups = results.map(({ bench, rows }) => ({ title: bench.title, lines: rows.map(toLine) }))
  const all = [HEADINGS, ...groups.flatMap(({ lines }) => lines)]
  const widths = HEADINGS.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)))
  const render = (line: string[]) =>
    `  ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd()
  return [render(HEADINGS), ...groups.flatMap(({ title, lines }) => ['', title, ...lines.map(render)])].join('\n')
}

/**
 * Puts a result into docs/bench, beside those of the other benches, and the figures that docs/performance.md shows there.
 * @param order names of all benches
 */
export async function store({ bench: { name, title }, rows }: Ran, order: readonly string[]): Promise<void> {
  await mkdir(FOLDER, { recursive: true })
  const known = await readStored()
  const date = new Date().toISOString().slice(0, 10)
  known[name] = { title, date, nodeVersion: process.version, processors: cpus().length, rows }
  const stored = Object.fromEntries(order.flatMap((each) => (known[each] ? [[each, known[each]]] : [])))
  await writeFile(RESULTS, `${JSON.stringify(stored, null, 2)}\n`)
  await writeFile(PERFORMANCE_DOC, withFigures(await readFile(PERFORMANCE_DOC, 'utf8'), stored))
}

/** The page with the figures that belong to the results: each line of a table that names a row of theirs shows it. */
export function withFigures(page: string, stored: Stored): string {
  const rows = new Map(Object.values(stored).flatMap(({ rows }) => rows.map((row) => [row.what, row])))
  return page.replace(LINE, (line, what) => {
    const row = rows.get(what)
    return row ? `| ${toLine(row).join(' | ')} |` : line
  })
}

export async function readStored(): Promise<Stored> {
  try {
    return JSON.parse(await readFile(RESULTS, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

function toLine({ what, bar = '', measured, isMet }: Row): string[] {
  return [what, bar, measured, isMet === undefined ? '' : isMet ? 'ok' : 'short']
}
