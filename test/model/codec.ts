import { createSymmetry } from './symmetry.ts'
import {
  type Answer,
  type Cut,
  entry,
  type Kind,
  MAX_LATE,
  MAX_RELEASES,
  type Note,
  type Purpose,
  type World,
} from './world.ts'

/**
 * Worlds as bytes: equal ones have equal bytes, whatever their release ids are called and in whichever order calls wait; and
 * of two processes with the same role, whichever is which. That is sound: no step, write or invariant tells them apart (they
 * look at roles, steps and work), so from a world, and from the one with the two swapped, the same worlds are reached, swapped.
 */
export interface Codec {
  length: number
  encode(world: World, into: Uint8Array): void
  decode(from: Uint8Array, offset: number, world: World): void
}

const CUT_BYTES = 5

const bit = (is: boolean, value: number): number => (is ? value : 0)

export function createCodec(shape: World): Codec {
  const attempts = shape.attempts.length - 1
  const places = shape.places.length
  const processes = shape.processes.length
  const hasAudit = shape.isAudited
  const length = 3 + attempts + MAX_RELEASES + places * 5 + processes * 5 + MAX_LATE * 2 + (hasAudit ? CUT_BYTES : 0)
  const late: number[] = Array.from({ length: MAX_LATE }, () => 0)
  const { settle, order, positions, positioned, nameOf, renamed } = createSymmetry(shape)

  function encode(world: World, into: Uint8Array): void {
    settle(world)
    into.fill(0)
    let at = 0
    into[at++] = world.used | bit(world.isDue, 128)
    into[at++] = world.drift + 8
    into[at++] = world.faults
    for (let id = 1; id <= attempts; id++) {
      const { isTaking, hasObject, wasRecorded, wasRetired, lateCopy, deletion } = entry(world.attempts, id)
      const done = bit(wasRecorded, 4) | bit(wasRetired, 8)
      into[at++] = bit(isTaking, 1) | bit(hasObject, 2) | done | (lateCopy << 4) | (deletion << 6)
    }
    for (let id = 1; id <= MAX_RELEASES; id++) {
      const { attempt, isDeletion, isLeaseOver } = entry(world.releases, id)
      if (attempt === 0) continue
      into[at + nameOf(id) - 1] = attempt | bit(isDeletion, 16) | bit(isLeaseOver, 32)
    }
    at += MAX_RELEASES
    for (let place = 0; place < places; place++) {
      const { row, document } = entry(world.places, place)
      into[at++] = row.attempt | (row.purpose << 4) | bit(row.isLeaseOver, 64)
      into[at++] = nameOf(row.closedBy) | (nameOf(document.closedBy) << 4)
      into[at++] = document.kind | (document.attempt << 2) | bit(document.isFinished, 32)
      into[at++] = document.fencedThrough
      into[at++] = positioned(document.contemporaries)
    }
    for (let position = 0; position < processes; position++) {
      const process = entry(world.processes, entry(order, position))
      into[at++] = process.step
      into[at++] = process.about | (process.copy << 2) | (process.unmarked << 4) | (process.memo << 6)
      into[at++] = nameOf(process.release) | bit(process.isLeaseOver, 16) | bit(process.hasChanged, 32)
      into[at++] = process.seenAttempts
      into[at++] = renamed(process.seenReleases)
    }
    if (hasAudit) {
      encodeCut(world, into, at)
      at += CUT_BYTES
    }
    const { length: lateCount } = world.late
    for (let index = 0; index < lateCount; index++) {
      const { write, sender, attempt, release } = entry(world.late, index)
      const call = (write << 11) | (entry(positions, sender) << 7) | (attempt << 4) | nameOf(release)
      // By insertion: there are few.
      let place = index
      for (; place > 0 && entry(late, place - 1) > call; place--) late[place] = entry(late, place - 1)
      late[place] = call
    }
    for (let index = 0; index < lateCount; index++) {
      const call = entry(late, index)
      into[at++] = call >> 8
      into[at++] = call & 255
    }
  }

  /** Masks of attempts begin with bit 1. */
  function encodeCut({ cut, isCorrected }: World, into: Uint8Array, from: number): void {
    let at = from
    into[at++] = cut.phase | bit(cut.isUndone, 4) | bit(cut.isWrong, 8) | bit(isCorrected, 16)
    into[at++] = (cut.used + 8) | (cut.held << 4)
    into[at++] = cut.later
    into[at++] = renamed(cut.laterReleases)
    into[at++] = renamed(cut.doubts)
  }

  function decodeCut(from: Uint8Array, start: number, world: World): void {
    let at = start
    const { cut } = world
    const bits = entry(from, at++)
    cut.phase = (bits & 3) as Cut['phase']
    cut.isUndone = (bits & 4) !== 0
    cut.isWrong = (bits & 8) !== 0
    world.isCorrected = (bits & 16) !== 0
    const counted = entry(from, at++)
    cut.used = (counted & 15) - 8
    cut.held = counted >> 4
    cut.later = entry(from, at++)
    cut.laterReleases = entry(from, at++)
    cut.doubts = entry(from, at++)
  }

  /** The bits are taken apart in place: this runs before each move, and a function for the next byte costs a third of it. */
  function decode(from: Uint8Array, offset: number, world: World): void {
    let at = offset
    const first = entry(from, at++)
    world.used = first & 127
    world.isDue = first > 127
    world.drift = entry(from, at++) - 8
    world.faults = entry(from, at++)
    for (let id = 1; id <= attempts; id++) {
      const attempt = entry(world.attempts, id)
      const bits = entry(from, at++)
      attempt.isTaking = (bits & 1) !== 0
      attempt.hasObject = (bits & 2) !== 0
      attempt.wasRecorded = (bits & 4) !== 0
      attempt.wasRetired = (bits & 8) !== 0
      attempt.lateCopy = ((bits >> 4) & 3) as Note
      attempt.deletion = (bits >> 6) as Note
    }
    for (let id = 1; id <= MAX_RELEASES; id++) {
      const release = entry(world.releases, id)
      const bits = entry(from, at++)
      release.attempt = bits & 15
      release.isDeletion = (bits & 16) !== 0
      release.isLeaseOver = (bits & 32) !== 0
    }
    for (let place = 0; place < places; place++) {
      const { row, document } = entry(world.places, place)
      const head = entry(from, at++)
      row.attempt = head & 15
      row.purpose = ((head >> 4) & 3) as Purpose
      row.isLeaseOver = (head & 64) !== 0
      const releases = entry(from, at++)
      row.closedBy = releases & 15
      document.closedBy = releases >> 4
      const bits = entry(from, at++)
      document.kind = (bits & 3) as Kind
      document.attempt = (bits >> 2) & 7
      document.isFinished = (bits & 32) !== 0
      document.fencedThrough = entry(from, at++)
      document.contemporaries = entry(from, at++)
    }
    for (let index = 0; index < processes; index++) {
      const process = entry(world.processes, index)
      process.step = entry(from, at++)
      const work = entry(from, at++)
      process.about = work & 3
      process.copy = ((work >> 2) & 3) as Answer
      process.unmarked = ((work >> 4) & 3) as Answer
      process.memo = work >> 6
      const bits = entry(from, at++)
      process.release = bits & 15
      process.isLeaseOver = (bits & 16) !== 0
      process.hasChanged = (bits & 32) !== 0
      process.seenAttempts = entry(from, at++)
      process.seenReleases = entry(from, at++)
    }
    if (hasAudit) {
      decodeCut(from, at, world)
      at += CUT_BYTES
    }
    // To set its length is slow; mostly there is nothing to take out.
    while (world.late.length > 0) world.late.pop()
    for (let index = 0; index < MAX_LATE; index++) {
      const call = (entry(from, at++) << 8) | entry(from, at++)
      if (call === 0) return
      world.late.push({ write: call >> 11, sender: (call >> 7) & 15, attempt: (call >> 4) & 7, release: call & 15 })
    }
  }

  return { length, encode, decode }
}
