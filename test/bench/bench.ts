/** One bar of docs/performance.md and what was measured for it. */
export interface Row {
  what: string
  /** Omitted: there is no bar to meet; the figure is shown for information. */
  bar?: string
  measured: string
  isMet?: boolean
}

export interface Bench {
  name: string
  title: string
  /** Its figures are the same on every machine, so even the quick form compares them with their bars. */
  isExact?: boolean
  /** @param on.isQuick only shows that the bench works: counts are tiny, and the figures mean nothing */
  run(on: { isQuick: boolean; progress(text: string): void }): Promise<Row[]>
}

/** A row whose figure must not be larger than its limit. */
export function atMost(
  what: string,
  limit: number,
  measured: number,
  format: (value: number) => string,
  remark = '',
): Row {
  return { what, bar: `≤ ${format(limit)}`, measured: format(measured) + remark, isMet: measured <= limit }
}

export const asRatio = (value: number) => value.toFixed(2)
export const asSeconds = (seconds: number) => `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`
export const asMs = (ms: number) => `${ms.toFixed(ms < 10 ? 2 : 1)} ms`
