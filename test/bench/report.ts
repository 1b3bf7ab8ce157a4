import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { Bench, BenchResult, Row } from './bench.ts'
import { ROOT } from './bundles.ts'
import { renderPlot } from './plot.ts'

const FOLDER = join(ROOT, 'docs/bench')
const RESULTS = join(FOLDER, 'results.json')
const HEADINGS = ['', 'bar', 'measured', '']

/** Nothing in it names the machine or its place. */
interface StoredBench {
  title: string
  date: string
  nodeVersion: string
  processors: number
  rows: Row[]
  figures: Record<string, unknown>
}

/** One table of all benches, in plain text. */
export function renderTable(results: readonly { bench: Bench; result: BenchResult }[]): string {
  const groups = results.map(({ bench, result }) => ({ title: bench.title, lines: result.rows.map(toLine) }))
  const all = [HEADINGS, ...groups.flatMap(({ lines }) => lines)]
  const widths = HEADINGS.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)))
  const render = (line: string[]) =>
    `  ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd()
  return [render(HEADINGS), ...groups.flatMap(({ title, lines }) => ['', title, ...lines.map(render)])].join('\n')
}

/** Puts the results into docs/bench, beside those of benches that were not run this time. */
export async function store(results: readonly { bench: Bench; result: BenchResult }[]): Promise<void> {
  await mkdir(FOLDER, { recursive: true })
  const stored = await readStored()
  for (const { bench, result } of results) {
    const { rows, figures, plots = [] } = result
    const processors = cpus().length
    const date = new Date().toISOString().slice(0, 10)
    stored[bench.name] = { title: bench.title, date, nodeVersion: process.version, processors, rows, figures }
    for (const plot of plots) await writeFile(join(FOLDER, `${plot.file}.svg`), renderPlot(plot))
  }
  await writeFile(RESULTS, `${JSON.stringify(stored, null, 2)}\n`)
}

async function readStored(): Promise<Record<string, StoredBench>> {
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
