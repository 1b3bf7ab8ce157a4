import type { Item } from './capacity.ts'
import type { KeyRange } from './dynalite.ts'

/** The items of a table or the entries of an index, as they are and as they were a while ago. */
export interface ItemSpace {
  get(key: string, asOfMs: number): Item | undefined
  list(range: KeyRange, asOfMs: number): Item[]
  /** @param item undefined removes what is there */
  set(key: string, item: Item | undefined, nowMs: number): void
  copy(): ItemSpace
}

interface Version {
  atMs: number
  item: Item | undefined
}

interface Contents {
  versions: Map<string, Version[]>
  /** The keys of `versions`, ascending: a list is a piece of it, however many there are. */
  sorted: string[]
  removals: { key: string; atMs: number }[]
}

/** @param keptMs how far back it can be read */
export function createItemSpace(
  keptMs: number,
  { versions, sorted, removals }: Contents = { versions: new Map(), sorted: [], removals: [] },
): ItemSpace {
  const get = (key: string, asOfMs: number): Item | undefined =>
    versions.get(key)?.findLast(({ atMs }) => atMs <= asOfMs)?.item

  return {
    get,
    list({ gt, gte, lt, lte, reverse = false, limit = -1 }, asOfMs) {
      const from = Math.max(
        gt === undefined ? 0 : placeOf(sorted, gt, 'behind'),
        gte === undefined ? 0 : placeOf(sorted, gte, 'before'),
      )
      const to = Math.min(
        lt === undefined ? sorted.length : placeOf(sorted, lt, 'before'),
        lte === undefined ? sorted.length : placeOf(sorted, lte, 'behind'),
      )
      const keys = sorted.slice(from, Math.max(from, to))
      const items = (reverse ? keys.reverse() : keys)
        .map((key) => get(key, asOfMs))
        .filter((item) => item !== undefined)
      return limit < 0 ? items : items.slice(0, limit)
    },
    set(key, item, nowMs) {
      const known = versions.get(key) ?? []
      if (known.length === 0) sorted.splice(placeOf(sorted, key, 'before'), 0, key)
      // The newest version that is old enough is still what was true then.
      const firstKept = known.findLastIndex(({ atMs }) => atMs <= nowMs - keptMs)
      versions.set(key, [...known.slice(Math.max(0, firstKept)), { atMs: nowMs, item }])
      if (item === undefined) removals.push({ key, atMs: nowMs })
      while (removals[0] !== undefined && removals[0].atMs < nowMs - keptMs) forget(removals.shift()?.key ?? '')
    },
    // Versions and items are replaced, never changed.
    copy: () => createItemSpace(keptMs, { versions: new Map(versions), sorted: [...sorted], removals: [...removals] }),
  }

  function forget(removed: string): void {
    const known = versions.get(removed)
    if (known === undefined || known.at(-1)?.item !== undefined) return
    versions.delete(removed)
    sorted.splice(placeOf(sorted, removed, 'before'), 1)
  }
}

/** Where in ascending keys this one is or would be: before an equal one, or behind it. */
function placeOf(keys: readonly string[], key: string, side: 'before' | 'behind'): number {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const other = keys[middle] ?? ''
    if (other < key || (side === 'behind' && other === key)) low = middle + 1
    else high = middle
  }
  return low
}
