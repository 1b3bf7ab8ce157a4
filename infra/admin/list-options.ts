import { type Command, InvalidArgumentError, Option } from 'commander'

export interface ListOptions {
  /** Maximum number of rows. */
  limit?: number
  /** Heading of a column, in lower case; the order is turned round by `isDescending`. */
  sort?: { column: string; isDescending: boolean }
}

/** Adds --limit and --sort to a command that lists. @param columns headings by which it can be sorted */
export function addListOptions(command: Command, columns: readonly string[]): Command {
  const names = columns.map((heading) => heading.toLowerCase().replaceAll(' ', '-'))
  const parseSort = (text: string): ListOptions['sort'] => {
    const column = text.replace(/^-/, '').toLowerCase()
    if (!names.includes(column)) throw new InvalidArgumentError(`the columns are ${names.join(', ')}`)
    return { column, isDescending: text.startsWith('-') }
  }
  return command
    .addOption(new Option('--limit <number>', 'at most so many').argParser(parseLimit))
    .addOption(
      new Option('--sort <column>', `by ${names.join(', ')}; with a "-" before it, the largest first`).argParser(
        parseSort,
      ),
    )
}

function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError(`"${text}" is not a number of rows`)
  return Number(text)
}

/** The requested rows, in the requested order. Sorting holds all of them in memory. */
export async function* choose<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  { limit = Number.POSITIVE_INFINITY, sort }: ListOptions,
  sortValue: (row: Row, column: string) => string | number,
): AsyncGenerator<Row> {
  let count = 0
  for await (const row of sort === undefined ? rows : await sorted(rows, sort, sortValue)) {
    if (count++ >= limit) return
    yield row
  }
}

async function sorted<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  { column, isDescending }: NonNullable<ListOptions['sort']>,
  sortValue: (row: Row, column: string) => string | number,
): Promise<Row[]> {
  const all: { row: Row; value: string | number }[] = []
  for await (const row of rows) all.push({ row, value: sortValue(row, column) })
  const order = isDescending ? -1 : 1
  return all.toSorted((a, b) => (a.value === b.value ? 0 : a.value < b.value ? -order : order)).map(({ row }) => row)
}
