import { type Command, Option } from 'commander'
import { refuse } from './parse-values.ts'

export interface Cell {
  text: string
  /** Shown on a terminal only. */
  colour?: 'red' | 'green' | 'yellow' | 'dim'
  /** The value to sort rows by, where sorting by the text would be wrong. */
  value?: number
}

/** The cells of a row, by heading. */
export type Columns<Row> = Record<string, (row: Row) => string | Cell>

export interface ListOptions {
  limit?: number
  /** Heading of a column; the order is reversed by `isDescending`. */
  sort?: { heading: string; isDescending: boolean }
}

/** Adds --limit and --sort to a command that lists. @param columns by which it can be sorted */
export function addListOptions<Row>(command: Command, columns: Columns<Row>): Command {
  const toName = (heading: string) => heading.toLowerCase().replaceAll(' ', '-')
  const names = Object.keys(columns).map(toName)
  const parseSort = (text: string): ListOptions['sort'] => {
    const name = text.replace(/^-/, '').toLowerCase()
    const heading = Object.keys(columns).find((each) => toName(each) === name)
    if (heading === undefined) refuse(`"${text}" is not a column: the columns are ${names.join(', ')}`)
    return { heading, isDescending: text.startsWith('-') }
  }
  const byWhat = `by ${names.join(', ')}; with a "-" before it, largest first`
  return command
    .addOption(new Option('--limit <number>', 'at most this many').argParser(parseLimit))
    .addOption(new Option('--sort <column>', byWhat).argParser(parseSort))
}

function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) refuse(`"${text}" is not a number of rows`)
  return Number(text)
}

/** The rows in the order and number that the options ask for. Sorting reads all of them first. */
export async function* choose<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  { limit = Number.POSITIVE_INFINITY, sort }: ListOptions,
  columns: Columns<Row>,
): AsyncGenerator<Row> {
  let count = 0
  for await (const row of sort === undefined ? rows : await sorted(rows, sort, columns)) {
    if (count++ >= limit) return
    yield row
  }
}

async function sorted<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  { heading, isDescending }: NonNullable<ListOptions['sort']>,
  columns: Columns<Row>,
): Promise<Row[]> {
  const sortValue = (row: Row) => {
    const cell = columns[heading]?.(row) ?? ''
    return typeof cell === 'string' ? cell : (cell.value ?? cell.text)
  }
  const all = (await Array.fromAsync(rows)).map((row) => ({ row, value: sortValue(row) }))
  const order = isDescending ? -1 : 1
  return all.toSorted((a, b) => (a.value === b.value ? 0 : a.value < b.value ? -order : order)).map(({ row }) => row)
}
