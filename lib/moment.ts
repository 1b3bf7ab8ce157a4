/** RFC 3339, any digits of the second's fraction. */
const MOMENT = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/
export const HUNDRED_YEARS_MS = 100 * 365 * 86_400_000

/** @returns ms since 1970; undefined: it names no moment */
export function parseMoment(text: string): number | undefined {
  const [, day] = MOMENT.exec(text.toUpperCase()) ?? []
  const ms = day === undefined ? Number.NaN : Date.parse(text.toUpperCase())
  // Date.parse takes February 31 for a day in March.
  const isRealDay = day !== undefined && new Date(`${day}T00:00Z`).toJSON()?.startsWith(day)
  return Number.isNaN(ms) || !isRealDay ? undefined : ms
}
