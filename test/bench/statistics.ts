/** The value below which the given part (0 to 1) of the values lie; nearest rank. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = Math.min(sorted.length, Math.max(1, Math.ceil(part * sorted.length)))
  return sorted[rank - 1] ?? Number.NaN
}

export const median = (values: readonly number[]) => percentile(values, 0.5)
export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
