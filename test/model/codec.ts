import { type Answer, entry, type Kind, MAX_LATE, MAX_RELEASES, type Watch, type World } from './world.ts'

/** Worlds as bytes: equal ones have equal bytes, whatever their release ids are called and in whichever order calls wait. */
export interface Codec {
  length: number
  encode(world: World, into: Uint8Array): void
  decode(from: Uint8Array, offset: number, world: World): void
}

const bit = (is: boolean, value: number): number => (is ? value : 0)

export function createCodec(shape: World): Codec {
  const attempts = shape.attempts.length - 1
  const length = 3 + attempts + MAX_RELEASES + shape.places.length * 5 + shape.processes.length * 5 + MAX_LATE * 2
  const names = new Uint8Array(MAX_RELEASES + 1)
  const late = new Uint16Array(MAX_LATE)
  let named = 0

  const name = (release: number): void => {
    if (release !== 0 && names[release] === 0) names[release] = ++named
  }

  /** Release ids are fresh names that nobody compares by order: called 1, 2, 3 here, as they are met. */
  function nameReleases(world: World): void {
    names.fill(0)
    named = 0
    for (const process of world.processes) name(process.release)
    for (const { row, document } of world.places) {
      name(row.closedBy)
      name(document.retiredBy)
    }
    for (const call of world.late) name(call.release)
    for (let release = 1; release <= MAX_RELEASES; release++) {
      if (entry(world.releases, release).attempt !== 0) name(release)
    }
  }

  function renamed(mask: number): number {
    let result = 0
    for (let release = 1; mask >> release !== 0; release++) {
      if (mask & (1 << release)) result |= 1 << entry(names as unknown as number[], release)
    }
    return result
  }

  const nameOf = (release: number): number => names[release] as number

  function encode(world: World, into: Uint8Array): void {
    nameReleases(world)
    into.fill(0)
    let at = 0
    into[at++] = world.used | bit(world.isDue, 128)
    into[at++] = world.drift + 8
    into[at++] = world.faults
    for (let id = 1; id <= attempts; id++) {
      const { isTaking, hasObject, wasRecorded, wasRetired, watch } = entry(world.attempts, id)
      into[at++] = bit(isTaking, 1) | bit(hasObject, 2) | bit(wasRecorded, 4) | bit(wasRetired, 8) | (watch << 4)
    }
    for (let id = 1; id <= MAX_RELEASES; id++) {
      const { attempt, isDeletion, isLeaseOver, isEmpty } = entry(world.releases, id)
      if (attempt === 0) continue
      into[at + nameOf(id) - 1] = attempt | bit(isDeletion, 16) | bit(isLeaseOver, 32) | bit(isEmpty, 64)
    }
    at += MAX_RELEASES
    for (const { row, document } of world.places) {
      into[at++] = row.attempt | bit(row.isFence, 16)
      into[at++] = nameOf(row.closedBy) | (nameOf(document.retiredBy) << 4)
      into[at++] = document.kind | (document.attempt << 2) | bit(document.isFinished, 32)
      into[at++] = document.fencedThrough
      into[at++] = document.contemporaries
    }
    for (const process of world.processes) {
      into[at++] = process.step
      into[at++] = process.about | (process.copy << 2) | (process.unmarked << 4) | (process.memo << 6)
      into[at++] = nameOf(process.release) | bit(process.isLeaseOver, 16) | bit(process.hasChanged, 32)
      into[at++] = process.seenAttempts
      into[at++] = renamed(process.seenReleases)
    }
    late.fill(0)
    for (let index = 0; index < world.late.length; index++) {
      const { write, sender, attempt, release } = entry(world.late, index)
      late[index] = (write << 11) | (sender << 7) | (attempt << 4) | nameOf(release)
    }
    late.sort()
    for (const call of late) {
      into[at++] = call >> 8
      into[at++] = call & 255
    }
  }

  function decode(from: Uint8Array, offset: number, world: World): void {
    let at = offset
    const next = (): number => from[at++] as number
    const first = next()
    world.used = first & 127
    world.isDue = first > 127
    world.drift = next() - 8
    world.faults = next()
    for (let id = 1; id <= attempts; id++) {
      const attempt = entry(world.attempts, id)
      const bits = next()
      attempt.isTaking = (bits & 1) !== 0
      attempt.hasObject = (bits & 2) !== 0
      attempt.wasRecorded = (bits & 4) !== 0
      attempt.wasRetired = (bits & 8) !== 0
      attempt.watch = (bits >> 4) as Watch
    }
    for (let id = 1; id <= MAX_RELEASES; id++) {
      const release = entry(world.releases, id)
      const bits = next()
      release.attempt = bits & 15
      release.isDeletion = (bits & 16) !== 0
      release.isLeaseOver = (bits & 32) !== 0
      release.isEmpty = (bits & 64) !== 0
    }
    for (const { row, document } of world.places) {
      const head = next()
      row.attempt = head & 15
      row.isFence = (head & 16) !== 0
      const releases = next()
      row.closedBy = releases & 15
      document.retiredBy = releases >> 4
      const bits = next()
      document.kind = (bits & 3) as Kind
      document.attempt = (bits >> 2) & 7
      document.isFinished = (bits & 32) !== 0
      document.fencedThrough = next()
      document.contemporaries = next()
    }
    for (const process of world.processes) {
      process.step = next()
      const work = next()
      process.about = work & 3
      process.copy = ((work >> 2) & 3) as Answer
      process.unmarked = ((work >> 4) & 3) as Answer
      process.memo = work >> 6
      const bits = next()
      process.release = bits & 15
      process.isLeaseOver = (bits & 16) !== 0
      process.hasChanged = (bits & 32) !== 0
      process.seenAttempts = next()
      process.seenReleases = next()
    }
    world.late.length = 0
    for (let index = 0; index < MAX_LATE; index++) {
      const call = (next() << 8) | next()
      if (call === 0) continue
      world.late.push({ write: call >> 11, sender: (call >> 7) & 15, attempt: (call >> 4) & 7, release: call & 15 })
    }
  }

  return { length, encode, decode }
}
