import { createRandom } from '../statistics.ts'

/** When independent requests arrive, in seconds, at an average rate (a Poisson process). */
export function arrivalsAt(perSecond: number, seconds: number, { seed = 3, from = 0 } = {}): number[] {
  const random = createRandom(seed)
  const arrivals: number[] = []
  for (let at = from; ; ) {
    at -= Math.log(1 - random()) / perSecond
    if (at >= from + seconds) return arrivals
    arrivals.push(at)
  }
}

/** This many at once: within a tenth of a second. */
export function allAtOnce(count: number): number[] {
  const random = createRandom(1)
  return Array.from({ length: count }, () => random() / 10).sort((one, other) => one - other)
}
