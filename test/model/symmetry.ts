import { entry, MAX_RELEASES, type Process, type Setup, type World } from './world.ts'

/** What a world is called by: release ids, and which of two processes with one role is which. */
export interface Symmetry {
  /** Settles the names for this world. */
  settle(world: World): void
  /** The process at each position in the bytes, and the position of each process. */
  readonly order: readonly number[]
  readonly positions: readonly number[]
  /** A bit mask of processes, by position. */
  positioned(mask: number): number
  /** Release ids are fresh names that nobody compares by order: called 1, 2, 3 here, as they are met. */
  nameOf(release: number): number
  renamed(mask: number): number
}

const bit = (is: boolean, value: number): number => (is ? value : 0)

export function createSymmetry(shape: World): Symmetry {
  const places = shape.places.length
  const processes = shape.processes.length
  const kinds = shape.setup.roles.map(({ kind }) => kind)
  const names = Array.from({ length: MAX_RELEASES + 1 }, () => 0)
  let named = 0
  const peers = peersOf(shape.setup)
  const order = Array.from({ length: processes }, (_, index) => index)
  const positions = [...order]

  /**
   * What tells processes of one role apart, except for release ids. Processes that are equal keep their places: two
   * equivalent states are then both kept.
   */
  function rankOf({ step, about, copy, unmarked, memo, isLeaseOver, hasChanged, seenAttempts }: Process): number {
    const work = about | (copy << 2) | (unmarked << 4) | (memo << 6)
    return (step << 18) | (work << 10) | (seenAttempts << 2) | bit(isLeaseOver, 1) | bit(hasChanged, 2)
  }

  function orderPeers(world: World): void {
    for (const [one, other] of peers) {
      const isSwapped = rankOf(entry(world.processes, one)) > rankOf(entry(world.processes, other))
      order[one] = isSwapped ? other : one
      order[other] = isSwapped ? one : other
      positions[one] = entry(order, one)
      positions[other] = entry(order, other)
    }
  }

  function positioned(mask: number): number {
    if (mask === 0 || peers.length === 0) return mask
    let result = 0
    for (let index = 0; index < processes; index++) if (mask & (1 << index)) result |= 1 << entry(positions, index)
    return result
  }

  function name(release: number): void {
    if (release !== 0 && names[release] === 0) names[release] = ++named
  }

  function nameReleases(world: World): void {
    for (let release = 1; release <= MAX_RELEASES; release++) names[release] = 0
    named = 0
    for (let position = 0; position < processes; position++) {
      const { release, seenReleases } = entry(world.processes, entry(order, position))
      name(release)
      // What an audit has seen matters only if somebody else knows it.
      if (seenReleases !== 0 && kinds[position] !== 'audit') name(31 - Math.clz32(seenReleases))
    }
    for (let place = 0; place < places; place++) {
      const { row, document } = entry(world.places, place)
      name(row.closedBy)
      name(document.closedBy)
    }
    for (let index = 0; index < world.late.length; index++) name(entry(world.late, index).release)
    for (let release = 1; release <= MAX_RELEASES; release++) {
      if (entry(world.releases, release).attempt !== 0) name(release)
    }
  }

  const nameOf = (release: number): number => entry(names, release)

  function renamed(mask: number): number {
    let result = 0
    for (let release = 1; mask >> release !== 0; release++) {
      if (mask & (1 << release)) result |= 1 << nameOf(release)
    }
    // Without a name: nobody knows it any more.
    return result & ~1
  }

  function settle(world: World): void {
    orderPeers(world)
    nameReleases(world)
  }

  return { settle, order, positions, positioned, nameOf, renamed }
}

/** Pairs of processes that have the same role. @throws Error when there are more than two of one */
function peersOf({ roles }: Setup): [number, number][] {
  const texts = roles.map((role) => JSON.stringify(role))
  return texts.flatMap((text, index): [number, number][] => {
    const others = texts.flatMap((other, at) => (other === text && at !== index ? [at] : []))
    if (others.length > 1) throw new Error('the codec knows pairs of processes with one role, no more')
    return others.filter((other) => other > index).map((other) => [index, other])
  })
}
