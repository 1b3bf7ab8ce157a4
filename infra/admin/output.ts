import Table from 'cli-table3'
import prettyBytes from 'pretty-bytes'
import { printable } from '../text/printable.ts'
import { type Colour, colour } from './colours.ts'
import type { Failure } from './describe-failure.ts'
import { choose, type ListOptions } from './list-options.ts'
import { createStatusLine } from './status-line.ts'
import type { Terminal, TextOutput } from './terminal.ts'

/** Text may have a colour on a terminal. */
type Cell = string | number | { text: string; colour: Colour }
type Columns<Row> = Record<string, (row: Row) => Cell>

interface Listing<Row> extends ListOptions {
  columns: Columns<Row>
  /** By heading, for columns whose text does not sort like its value. */
  sortBy?: Record<string, (row: Row) => string | number>
  /** The fields of a row for programs. Keys become snake_case. */
  toJson(row: Row): object
  /** Shown when there is nothing to list. */
  none: string
  /** Progress in a command's own units. */
  noun: string
}

/**
 * The output of a command: results on standard output, everything else on standard error. People get sentences and
 * tables, programs (`--json`) one object per line.
 */
export interface Output {
  readonly isJson: boolean
  /** Prints the result on standard output. */
  tell(text: string, object: object): void
  /** What was done: for people a sentence on standard error, so that a program can read standard output. */
  done(text: string, object: object): void
  /** For people only. */
  note(text: string): void
  list<Row>(rows: AsyncIterable<Row> | Iterable<Row>, options: Listing<Row>): Promise<number>
  /** Progress, for people only. */
  progress(text: string): void
  fail(failure: Failure): void
  /** Ends the progress. */
  close(): void
}

/** Rows per table: a listing may be larger than memory. */
const ROWS_PER_TABLE = 1000
/** No borders: to be read, and to be cut by awk. */
const PLAIN = Object.fromEntries(
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid middle'
    .split(' ')
    .map((name) => [name, name === 'middle' ? '  ' : '']),
)

export function createOutput({
  isJson,
  terminal: { stdout, stderr },
}: {
  isJson: boolean
  terminal: Terminal
}): Output {
  const status = createStatusLine(stderr)
  const print = (text: string) => {
    status.clear()
    stdout.write(`${text}\n`)
  }
  const printJson = (object: object) => print(JSON.stringify(toSnakeCase(object)))
  const progress = (text: string) => status.show(printable(text))

  const note = (text: string) => {
    status.clear()
    if (!isJson) stderr.write(`${printable(text)}\n`)
  }

  return {
    isJson,
    progress,
    note,
    tell: (text, object) => (isJson ? printJson(object) : print(printable(text))),
    done: (text, object) => (isJson ? printJson(object) : note(text)),
    async list(rows, { columns, sortBy = {}, toJson, none, noun, ...options }) {
      let count = 0
      let page: Cell[][] = []
      const sortValue = (row: Parameters<typeof toJson>[0], column: string) => {
        const heading = column.toUpperCase().replaceAll('-', ' ')
        const value = (sortBy[heading] ?? columns[heading])?.(row) ?? ''
        return typeof value === 'object' ? value.text : value
      }
      const flush = () => {
        if (page.length > 0) print(table(Object.keys(columns), page, stdout))
        page = []
      }
      for await (const row of choose(rows, options, sortValue)) {
        count++
        if (isJson) printJson(toJson(row))
        else page.push(Object.values(columns).map((cell) => cell(row)))
        if (page.length === ROWS_PER_TABLE) flush()
        if (count % 100 === 0) progress(`${count} ${noun}`)
      }
      flush()
      if (count === 0) note(none)
      return count
    },
    fail({ reason, message }) {
      status.clear()
      const error = isJson ? JSON.stringify({ error: { reason, message } }) : printable(message)
      stderr.write(`${isJson ? error : colour('red', error, stderr)}\n`)
    },
    close: status.clear,
  }
}

/**
 * Aligned columns under a line of headings; none: without headings.
 * @param stream where it is shown; omitted: without colours
 */
export function table(headings: string[], rows: Cell[][], stream?: TextOutput): string {
  const lines = new Table({
    head: headings,
    chars: PLAIN,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  lines.push(...rows.map((row) => row.map((cell) => show(cell, stream))))
  return lines
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

/** 9.8 MiB */
export function bytes(count: number): string {
  return prettyBytes(count, { binary: true })
}

/** 9.8 MiB (10276045 bytes) */
export function exactBytes(count: number): string {
  return Math.abs(count) < 1024 ? `${count} bytes` : `${bytes(count)} (${count} bytes)`
}

export function time(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}

function show(cell: Cell, stream: TextOutput | undefined): string | number {
  if (typeof cell === 'number') return cell
  if (typeof cell === 'string') return printable(cell)
  const text = printable(cell.text)
  return stream === undefined ? text : colour(cell.colour, text, stream)
}

function toSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeCase)
  if (value === null || typeof value !== 'object' || value instanceof Date) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      toSnakeCase(each),
    ]),
  )
}
