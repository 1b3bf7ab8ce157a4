import { createRandom } from '../statistics.ts'

/** Requests that come by themselves, so many a second on average (a Poisson process). In seconds. */
export function arrivalsAt(perSecond: number, seconds: number, { seed = 3, from = 0 } = {}): number[] {
  const random = createRandom(seed)
  const arrivals: number[] = []
  for (let at = from; ; ) {
    at -= Math.log(1 - random()) / perSecond
    if (at >= from + seconds) return arrivals
    arrivals.push(at)
  }
}

/** So many at once: within a tenth of a second. */
export function allAtOnce(count: number, seed = 1): number[] {
  const random = createRandom(seed)
  return Array.from({ length: count }, () => random() / 10).sort((one, other) => one - other)
}
