import { clearLine, cursorTo } from 'node:readline'
import { stripVTControlCharacters, styleText } from 'node:util'
import Table from 'cli-table3'
import prettyBytes from 'pretty-bytes'
import { printable, printableJson, printableLine } from '../../local/printable.ts'

type TextInput = NodeJS.ReadableStream & { isTTY?: boolean }
type TextOutput = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }

/** Where a command reads and prints. A process is one; each stream may be a terminal or not. */
export type Terminal = { readonly stdin: TextInput; readonly stdout: TextOutput; readonly stderr: TextOutput }

/** The colour is shown on a terminal only. */
export type Cell = { text: string; colour: 'red' | 'green' | 'yellow' | 'dim' }

/** The cells of a row, by heading. */
export type Columns<Row> = Record<string, (row: Row) => string | Cell>

/** What `toJson` makes of a row is for programs, and gets names in snake_case. The noun is in the plural. */
type Listing<Row> = { columns: Columns<Row>; toJson(row: Row): object; noun: string }
type Rows<Row> = AsyncIterable<Row | { id: string; error: unknown }> | Iterable<Row>
export type Output = ReturnType<typeof createOutput>

/** Rows per table: a listing may be larger than memory. */
const ROWS_PER_TABLE = 1000
const REDRAW_MS = 100
const DEFAULT_COLUMNS = 80
const UNITS = Object.entries({ d: 86_400, h: 3600, m: 60 })
const BORDERS =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid'
/** No borders, so that people can read it and awk can cut it. */
const PLAIN = { ...Object.fromEntries(BORDERS.split(' ').map((name) => [name, ''])), middle: '  ' }

/** Results go to standard output, all else to standard error. People get tables, programs one JSON object per line. */
export function createOutput({ isJson, terminal }: { isJson: boolean; terminal: Terminal }) {
  const { stdout, stderr } = terminal
  const status = createStatusLine(stderr)
  let isClosed = false
  stdout.on('error', () => {
    isClosed = true
  })
  const write = (text: string, stream: TextOutput) => {
    status.clear()
    stream.write(`${text}\n`)
  }
  const printJson = (object: object) => write(printableJson(object, inSnakeCase), stdout)
  const progress = (text: string) => status.show(printableLine(text))
  const note = (text: string) => {
    if (!isJson) write(printable(text), stderr)
  }
  const fail = ({ reason, message }: { reason: string; message: string }) => {
    const forPeople = () => styleText('red', printable(message), { stream: stderr })
    write(isJson ? printableJson({ error: { reason, message } }) : forPeople(), stderr)
  }

  return {
    isJson,
    progress,
    /** Prints something for people only, on standard error. */
    note,
    print: (text: string, object: object) => (isJson ? printJson(object) : write(printable(text), stdout)),
    /** Says in a line what was done: to people on standard error, so that a program can read standard output. */
    done: (text: string, object: object) => (isJson ? printJson(object) : note(printableLine(text))),
    /** @returns how many rows were printed, and 1 as the exit code if some cannot be read */
    async list<Row extends object>(rows: Rows<Row>, { columns, toJson, noun }: Listing<Row>) {
      let count = 0
      let exitCode: 0 | 1 = 0
      let page: (string | Cell)[][] = []
      const flush = () => {
        if (page.length > 0) write(fitting(Object.keys(columns), page, stdout), stdout)
        page = []
      }
      for await (const row of rows) {
        if ('error' in row) {
          exitCode = 1
          fail({ reason: 'unreadable', message: `${row.id}: ${(row.error as Error).message}` })
          continue
        }
        count++
        if (isJson) printJson(toJson(row))
        else page.push(Object.values(columns).map((cell) => cell(row)))
        if (page.length === ROWS_PER_TABLE) flush()
        if (count % 100 === 0) progress(`${count} ${noun}`)
        // Nobody reads on, and printing is all that there is to do.
        if (isClosed) break
      }
      flush()
      if (count + exitCode === 0) note(`There are no ${noun}.`)
      return { count, exitCode }
    },
    fail,
    close: status.clear,
  }
}

/** One line that shows how far a long task has come, redrawn in place. On a terminal only: a log would fill with it. */
function createStatusLine(stream: TextOutput) {
  let shownAtMs = 0
  /** Makes room for a line of output; the next text comes back below it. */
  const clear = () => {
    if (shownAtMs === 0) return
    cursorTo(stream, 0)
    clearLine(stream, 0)
    shownAtMs = 0
  }
  return {
    show(text: string) {
      if (!stream.isTTY || Date.now() - shownAtMs < REDRAW_MS) return
      clear()
      // A wrapped line could not be cleared.
      stream.write(text.slice(0, (stream.columns || DEFAULT_COLUMNS) - 1))
      shownAtMs = Date.now()
    },
    clear,
  }
}

/** A table or, where the terminal is too narrow for it, each row as a table of its own: a heading and its cell a line. */
function fitting(headings: string[], rows: (string | Cell)[][], stream: TextOutput): string {
  const all = table(headings, rows, stream)
  const width = Math.max(...all.split('\n').map((line) => stripVTControlCharacters(line).length))
  if (width <= (stream.columns ?? width)) return all
  const pairs = (row: (string | Cell)[]) => headings.map((heading, at) => [heading, row[at] ?? ''])
  return rows.map((row) => table([], pairs(row), stream)).join('\n\n')
}

/** Aligned columns; empty `headings`: none are shown. @param stream where it is shown; omitted: without colours */
export function table(headings: string[], rows: (string | Cell)[][], stream?: TextOutput): string {
  const style = { head: [], border: [], 'padding-left': 0, 'padding-right': 0 }
  const lines = new Table({ head: headings, chars: PLAIN, style })
  lines.push(...rows.map((row) => row.map((cell) => show(cell, stream))))
  return lines.toString().replace(/ +$/gm, '')
}

/** NO_COLOR and FORCE_COLOR are honoured (https://no-color.org). */
function show(cell: string | Cell, stream: TextOutput | undefined): string {
  if (typeof cell === 'string') return printableLine(cell)
  const text = printableLine(cell.text)
  return stream ? styleText(cell.colour, text, { stream }) : text
}

/** 9.8 MiB */
export const bytes = (count: number): string => prettyBytes(count, { binary: true })

/** 9.8 MiB (10276045 bytes) */
export const exactBytes = (count: number): string =>
  Math.abs(count) < 1024 ? `${count} bytes` : `${bytes(count)} (${count} bytes)`

/** 1 key, 2 keys */
export const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

/** A word for a shell. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** 30d, 36h, 90m or 5s, as commands take it. */
export function duration(seconds: number): string {
  for (const [unit, size] of UNITS) if (seconds % size === 0) return `${seconds / size}${unit}`
  return `${seconds}s`
}

export const time = (at: Date | number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')

/** Names that begin with a capital are others' own, such as those of a form for S3. */
export const snakeCase = (name: string) => name.replace(/(?<=^[a-z].*)[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** For JSON.stringify, which goes on into what this returns. */
function inSnakeCase(_: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [snakeCase(name), each]))
}
