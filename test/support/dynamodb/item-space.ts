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

interface Removal {
  key: string
  atMs: number
}

/** @param keptMs how far back it can be asked */
export function createItemSpace(
  keptMs: number,
  versions = new Map<string, Version[]>(),
  removals: Removal[] = [],
): ItemSpace {
  const get = (key: string, asOfMs: number): Item | undefined =>
    versions.get(key)?.findLast(({ atMs }) => atMs <= asOfMs)?.item

  return {
    get,
    list({ gt, gte, lt, lte, reverse = false, limit = -1 }, asOfMs) {
      const isWithin = (key: string) =>
        (gt === undefined || key > gt) &&
        (gte === undefined || key >= gte) &&
        (lt === undefined || key < lt) &&
        (lte === undefined || key <= lte)
      const keys = [...versions.keys()].filter(isWithin).sort()
      const items = (reverse ? keys.reverse() : keys)
        .map((key) => get(key, asOfMs))
        .filter((item) => item !== undefined)
      return limit < 0 ? items : items.slice(0, limit)
    },
    set(key, item, nowMs) {
      const known = versions.get(key) ?? []
      // The newest of those that are old enough is still what was true then.
      const firstKept = known.findLastIndex(({ atMs }) => atMs <= nowMs - keptMs)
      versions.set(key, [...known.slice(Math.max(0, firstKept)), { atMs: nowMs, item }])
      if (item === undefined) removals.push({ key, atMs: nowMs })
      while (removals[0] !== undefined && removals[0].atMs < nowMs - keptMs) forget(removals.shift()?.key ?? '')
    },
    // Versions and items are replaced, never changed.
    copy: () => createItemSpace(keptMs, new Map(versions), [...removals]),
  }

  function forget(removed: string): void {
    if (versions.get(removed)?.at(-1)?.item === undefined) versions.delete(removed)
  }
}
