/** A value for each period, oldest first; undefined: there is none. */
export type Series = (number | undefined)[]

/** What a metric without any value in the range becomes by FILL: AWS does not say. */
export type EmptyFill = 'filled' | 'empty'

/** A missing value is NaN here, and a division by 0 gives a missing value. */
const isThere = (value: number | undefined) => Number.isFinite(value)
const OPERAND = String.raw`(value\("\w+"\)|\(value\("\w+"\) - value\("\w+"\)\)|[\d.]+)`
const COMPARISON = new RegExp(`${OPERAND} (>=|<=|>|<) ${OPERAND}`, 'g')

/** Each expression as a JavaScript function for one period, which uses the functions that `evaluate` gives it. */
const compiled = new Map<string, (functions: object) => number>()
function compile(expression: string, names: string[]): (functions: object) => number {
  if (/[^\w\s"(),<>=[\]+*/.-]/.test(expression)) throw new Error(`${expression} is not known`)
  const code = expression
    .replace(/(?<!")\b[a-z]\w*/g, 'value("$&")')
    .replace(COMPARISON, 'compare($1, "$2", $3)')
    .replaceAll('FILL(', 'FILL(() => ')
  return new Function(`{ ${names.join(', ')} }`, `return ${code}`) as (functions: object) => number
}

/**
 * CloudWatch user guide, "Metric math syntax and functions": as much of it as the alarms use.
 * @param quota what SERVICE_QUOTA answers
 */
export function evaluate(
  expression: string,
  metrics: Readonly<Record<string, Series>>,
  { emptyFill, quota = 1000 }: { emptyFill: EmptyFill; quota?: number },
): Series {
  const length = Math.max(...Object.values(metrics).map((series) => series.length))
  let now = 0
  const inEach = (value: () => number): number[] => {
    const before = now
    const values: number[] = []
    for (now = 0; now < length; now++) values.push(value())
    now = before
    return values
  }
  const value = (id: string): number => {
    const series = metrics[id]
    if (series === undefined) throw new Error(`${expression}: there is no metric ${id}`)
    return series[now] ?? Number.NaN
  }
  /** If one operand is missing, so is the result. */
  const ofAll = (operands: number[], result: () => number) => (operands.every(isThere) ? result() : Number.NaN)
  /** The result is missing only if all values are. */
  const ofSome = (values: number[], result: (values: number[]) => number) =>
    values.some(isThere) ? result(values.filter(isThere)) : Number.NaN
  const functions = {
    value,
    compare: (a: number, operator: string, b: number) =>
      ofAll([a, b], () => Number((operator.endsWith('=') && a === b) || (operator.startsWith('<') ? a < b : a > b))),
    REPEAT: undefined,
    FILL(series: () => number, filler: number | undefined) {
      const here = series()
      if (isThere(here) || (filler !== undefined && emptyFill === 'filled')) return isThere(here) ? here : filler
      const values = inEach(series)
      if (filler === undefined) return values.slice(0, now).findLast(isThere) ?? Number.NaN
      return values.some(isThere) ? filler : here
    },
    IF: (is: number, yes: number, no: number) => ofAll([is, yes, no], () => (is ? yes : no)),
    METRICS: (part = '') => Object.keys(metrics).flatMap((id) => (id.includes(part) ? [value(id)] : [])),
    SUM: (values: number[]) => ofSome(values, (all) => all.reduce((total, each) => total + each, 0)),
    MAX: (values: number[]) => ofSome(values, (all) => Math.max(...all)),
    SERVICE_QUOTA: (used: number) => ofAll([used], () => quota),
  }
  const run = compiled.get(expression) ?? compile(expression, Object.keys(functions))
  compiled.set(expression, run)
  return inEach(() => run(functions)).map((each) => (isThere(each) ? each : undefined))
}
