import { stripVTControlCharacters } from 'node:util'
import Table from 'cli-table3'
import prettyBytes from 'pretty-bytes'
import type { Failure } from './describe-failure.ts'
import { createStatusLine } from './status-line.ts'

type Columns<Row> = Record<string, (row: Row) => string | number>

interface ListOptions<Row> {
  columns: Columns<Row>
  /** What a program gets of a row. Keys become snake_case. */
  toJson(row: Row): object
  /** Said to people when there is nothing to list. */
  none: string
  /** What is counted while people wait. */
  noun: string
}

/** How a command speaks: sentences and tables to people, one JSON object per line to programs. */
export interface Output {
  readonly isJson: boolean
  tell(text: string, object: object): void
  list<Row>(rows: AsyncIterable<Row> | Iterable<Row>, options: ListOptions<Row>): Promise<number>
  /** Shown while it is worked on, to people only. */
  progress(text: string): void
  fail(failure: Failure): void
  /** Ends the progress. */
  close(): void
}

/** So many rows are one table: a listing may be longer than memory is large. */
const ROWS_PER_TABLE = 1000
/** Nothing around the cells: to be read, and to be cut by awk. */
const PLAIN = Object.fromEntries(
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid middle'
    .split(' ')
    .map((name) => [name, name === 'middle' ? '  ' : '']),
)

export function createOutput({ isJson }: { isJson: boolean }): Output {
  const status = createStatusLine(process.stderr)
  const print = (text: string) => {
    status.clear()
    console.log(text)
  }
  const printJson = (object: object) => print(JSON.stringify(toSnakeCase(object)))
  const progress = (text: string) => status.show(printable(text))

  return {
    isJson,
    progress,
    tell: (text, object) => (isJson ? printJson(object) : print(printable(text))),
    async list(rows, { columns, toJson, none, noun }) {
      let count = 0
      let page: (string | number)[][] = []
      const flush = () => {
        if (page.length > 0) print(table(Object.keys(columns), page))
        page = []
      }
      for await (const row of rows) {
        count++
        if (isJson) printJson(toJson(row))
        else page.push(Object.values(columns).map((cell) => cell(row)))
        if (page.length === ROWS_PER_TABLE) flush()
        if (count % 100 === 0) progress(`${count} ${noun}`)
      }
      flush()
      if (count === 0 && !isJson) print(none)
      return count
    },
    fail({ reason, message }) {
      status.clear()
      console.error(isJson ? JSON.stringify({ error: { reason, message } }) : printable(message))
    },
    close: status.clear,
  }
}

/** Aligned columns under a line of headings; none: without headings. */
export function table(headings: string[], rows: (string | number)[][]): string {
  const lines = new Table({
    head: headings,
    chars: PLAIN,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  lines.push(...rows.map((row) => row.map((cell) => (typeof cell === 'number' ? cell : printable(cell)))))
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

/** What others have stored must not steer the terminal. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
  return stripVTControlCharacters(text).replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, '\u{fffd}')
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
