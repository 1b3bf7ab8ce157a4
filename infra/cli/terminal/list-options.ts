import { type Command, Option } from 'commander'
import { refuse, wholeNumber } from './parse-values.ts'

export interface Cell {
  text: string
  /** Shown on a terminal only. */
  colour?: 'red' | 'green' | 'yellow' | 'dim'
  /** The value to sort rows by, where sorting by the text would be wrong. */
  value?: number
}

/** The cells of a row, by heading. */
export type Columns<Row> = Record<string, (row: Row) => string | Cell>

export type ListOptions<Row> = { limit?: number; sort?: (rows: Row[]) => Row[] }

/** Adds --limit and --sort to a command that lists. @param columns by which it can be sorted */
export function addListOptions<Row>(command: Command, columns: Columns<Row>): Command {
  const named = new Map(
    Object.entries(columns).map(([title, cell]) => [title.toLowerCase().replaceAll(' ', '-'), cell]),
  )
  const names = [...named.keys()].join(', ')
  const parseSort = (text: string): ListOptions<Row>['sort'] => {
    const name = text.replace(/^-/, '').toLowerCase()
    const cellOf = named.get(name) ?? refuse(`"${text}" is not a column: the columns are ${names}`)
    const valueIn = (row: Row) => {
      const cell = cellOf(row)
      return typeof cell === 'string' ? cell : (cell.value ?? cell.text)
    }
    const order = text.startsWith('-') ? -1 : 1
    const compare = (a: string | number, b: string | number) => (a === b ? 0 : a < b ? -order : order)
    return (rows) => rows.toSorted((a, b) => compare(valueIn(a), valueIn(b)))
  }
  return command
    .addOption(new Option('--limit <number>', 'at most this many').argParser(wholeNumber(999_999_999, 'rows')))
    .addOption(new Option('--sort <column>', `by ${names}; with a "-" before it, largest first`).argParser(parseSort))
}
