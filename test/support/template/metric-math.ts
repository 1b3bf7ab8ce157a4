/** A value for each period, oldest first; undefined: there is none. */
export type Series = (number | undefined)[]
type Value = number | Series | Series[]

/** What a metric without any value in the range becomes by FILL: AWS does not say. */
export type EmptyFill = 'filled' | 'empty'

const TOKEN = /\s*(>=|<=|==|"\w*"|[A-Za-z_]\w*|\d+(?:\.\d+)?|[-+*/(),<>[\]])/y
const OPERATORS: readonly Readonly<Record<string, (a: number, b: number) => number | undefined>>[] = [
  { '>': (a, b) => Number(a > b), '<': (a, b) => Number(a < b), '>=': (a, b) => Number(a >= b) },
  { '+': (a, b) => a + b, '-': (a, b) => a - b },
  { '*': (a, b) => a * b, '/': (a, b) => (b === 0 ? undefined : a / b) },
]

/**
 * CloudWatch user guide, "Metric math syntax and functions": as much of it as the alarms use.
 * @param quota what SERVICE_QUOTA answers
 */
export function evaluate(
  expression: string,
  metrics: Readonly<Record<string, Series>>,
  { emptyFill, quota = 1000 }: { emptyFill: EmptyFill; quota?: number },
): Series {
  const tokens = tokensOf(expression)
  const length = Math.max(...Object.values(metrics).map((series) => series.length))
  const take = (expected?: string) => {
    const token = tokens.shift()
    if (token === undefined || (expected !== undefined && token !== expected))
      throw new Error(`${token} in ${expression}`)
    return token
  }
  const listUntil = (end: string) => {
    const values: Value[] = []
    while (tokens[0] !== end) {
      values.push(binary(0))
      if (tokens[0] === ',') take()
    }
    take(end)
    return values
  }

  function binary(level: number): Value {
    const operators = OPERATORS[level]
    if (operators === undefined) return operand()
    let left = binary(level + 1)
    for (let apply = operators[tokens[0] ?? '']; apply; apply = operators[tokens[0] ?? '']) {
      take()
      left = each(apply, left, binary(level + 1))
    }
    return left
  }

  function operand(): Value {
    const token = take()
    if (token === '(') return listUntil(')')[0] as Value
    if (token === '[') return listUntil(']').map(toSeries)
    if (/^\d/.test(token)) return Number(token)
    if (tokens[0] !== '(') return metrics[token] ?? fail(`there is no metric ${token}`)
    take('(')
    return call(token)
  }

  function call(name: string): Value {
    if (name === 'METRICS') {
      const [part = ''] = tokens[0] === ')' ? [] : [take().slice(1, -1)]
      take(')')
      return Object.keys(metrics).flatMap((id) => (id.includes(part) ? [metrics[id] as Series] : []))
    }
    const first = binary(0)
    if (name === 'FILL') {
      take(',')
      const filler = tokens[0] === 'REPEAT' ? take() : Number(take())
      take(')')
      return Array.isArray(first?.valueOf()) ? fill(first as Series, filler) : fail('FILL takes a series')
    }
    if (tokens[0] === ',') take()
    const [second, third] = listUntil(')')
    if (name === 'IF')
      return zip([first, second ?? fail('IF'), third ?? fail('IF')], ([is, yes, no]) => (is ? yes : no))
    if (name === 'SUM') return zip(first as Series[], (values) => sum(values), 'some')
    if (name === 'MAX') return zip(first as Series[], (values) => Math.max(...values.filter(isThere)), 'some')
    if (name === 'SERVICE_QUOTA') return (first as Series).map((value) => (isThere(value) ? quota : undefined))
    return fail(`${name} is not known`)
  }

  function fill(series: Series, filler: number | string): Series {
    if (filler !== 'REPEAT')
      return emptyFill === 'empty' && !series.some(isThere) ? series : series.map((v) => v ?? Number(filler))
    let last: number | undefined
    return series.map((value) => {
      last = value ?? last
      return last
    })
  }

  const toSeries = (value: Value): Series => (typeof value === 'number' ? Array(length).fill(value) : (value as Series))
  /** Where one value is missing, so is the result; with `some`, only where all are. */
  function zip(values: Value[], apply: (at: Series) => number | undefined, needs: 'every' | 'some' = 'every'): Series {
    const all = values.map(toSeries)
    return Array.from({ length }, (_, i) => {
      const at = all.map((series) => series[i])
      return at[needs](isThere) ? apply(at) : undefined
    })
  }
  function each(apply: (a: number, b: number) => number | undefined, left: Value, right: Value): Value {
    if (typeof left === 'number' && typeof right === 'number') return apply(left, right) ?? fail('division by 0')
    return zip([left, right], ([a, b]) => apply(a as number, b as number))
  }

  const result = binary(0)
  if (tokens.length > 0) fail(`${tokens.join(' ')} is left`)
  return toSeries(result)

  function fail(problem: string): never {
    throw new Error(`${expression}: ${problem}`)
  }
}

function tokensOf(expression: string): string[] {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < expression.trimEnd().length) {
    const at = TOKEN.lastIndex
    const [, token] = TOKEN.exec(expression) ?? []
    if (token === undefined) throw new Error(`${expression}: not known from ${at}`)
    tokens.push(token)
  }
  return tokens
}

const isThere = (value: number | undefined): value is number => value !== undefined
const sum = (values: Series) => values.reduce<number>((total, value) => total + (value ?? 0), 0)
