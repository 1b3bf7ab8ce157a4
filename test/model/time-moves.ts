import { NO_DOCUMENT } from './empty-world.ts'
import { nameOf } from './process-moves.ts'
import type { Model } from './protocol.ts'
import { isLeaseOver } from './resolver.ts'
import { hasEnded } from './steps.ts'
import {
  type Call,
  entry,
  FORESTALLED,
  NOTE_OVER,
  NOTED,
  type Process,
  type Role,
  WAITING,
  type World,
} from './world.ts'
import { WRITE_NAMES } from './writes.ts'

export interface TimeMove {
  what: 'arrives' | 'lease' | 'release' | 'lateCopy' | 'deletion' | 'forestalled' | 'expires'
  /** The index of the late call, process, release id, attempt or place. */
  at: number
}

const COPY = WRITE_NAMES.indexOf('copy')
const QUARTER_HOUR = new Set((['copy', 'noteLateCopy', 'forestall'] as const).map((name) => WRITE_NAMES.indexOf(name)))

/**
 * What time does. Leases are longer than a process lives and than what it sent takes to arrive (only copies may take longer,
 * but no longer than a late copy is noted); a tombstone stays longer than all that. Where leases are wrong, nobody asks
 * whether one has ended.
 */
export function createTimeMoves(model: Model, write: (world: World, call: Call) => string) {
  const ended = model.indexOf('ended')
  const kindOf = (world: World, index: number): Role['kind'] => entry(world.setup.roles, index).kind
  /** Whether a process that takes no longer than its leases is at work on something, or what it sent is on the wire. */
  const isAnyAtWork = (
    world: World,
    isAt: (process: Process, index: number) => boolean,
    isOn: (call: Call) => boolean,
  ): boolean =>
    world.processes.some((process, index) => kindOf(world, index) !== 'audit' && isAt(process, index)) ||
    world.late.some(isOn)

  function mayLeaseEnd(world: World, index: number): boolean {
    const process = entry(world.processes, index)
    if (process.isLeaseOver || process.step === WAITING || kindOf(world, index) !== 'promotion') return false
    const isAtWork =
      !hasEnded(process) || world.late.some(({ sender, write: sent }) => sender === index && sent !== COPY)
    return !isAtWork
  }

  function mayReleaseEnd(world: World, release: number): boolean {
    const marker = entry(world.releases, release)
    if (marker.attempt === 0 || marker.isLeaseOver) return false
    const isOf = (other: { release: number }) => other.release === release
    return !isAnyAtWork(world, isOf, isOf)
  }

  function mayDeletionEnd(world: World, attempt: number): boolean {
    const { deletion } = entry(world.attempts, attempt)
    if (deletion !== NOTED) return false
    return !isAnyAtWork(
      world,
      ({ about }, index) => about === attempt && kindOf(world, index) !== 'promotion',
      ({ sender, attempt: about }) => about === attempt && kindOf(world, sender) !== 'promotion',
    )
  }

  /** What ends a quarter of an hour later. */
  function isLongOver(world: World, attempt: number): boolean {
    return (
      isLeaseOver(world, attempt) &&
      !isAnyAtWork(
        world,
        ({ about }) => about === attempt,
        (call) => call.attempt === attempt && QUARTER_HOUR.has(call.write),
      )
    )
  }

  const mayLateCopyEnd = (world: World, attempt: number): boolean =>
    entry(world.attempts, attempt).lateCopy === NOTED && isLongOver(world, attempt)

  function mayForestalledEnd(world: World, place: number): boolean {
    const { attempt, purpose, isLeaseOver: isOver } = entry(world.places, place).row
    return purpose === FORESTALLED && !isOver && isLongOver(world, attempt)
  }

  function mayExpire(world: World, place: number): boolean {
    const { isFinished, contemporaries, attempt } = entry(world.places, place).document
    // A marker from a backup stays for minutes.
    const isMarked = entry(world.attempts, attempt).isTaking
    return (
      isFinished &&
      !isMarked &&
      contemporaries === 0 &&
      !world.late.some(({ sender }) => kindOf(world, sender) === 'resolver')
    )
  }

  function list(world: World, moves: object[]): void {
    for (let at = 0; at < world.late.length; at++) moves.push({ what: 'arrives', at })
    for (let at = 0; at < world.processes.length; at++) if (mayLeaseEnd(world, at)) moves.push({ what: 'lease', at })
    for (let at = 0; at < world.places.length; at++) if (mayExpire(world, at)) moves.push({ what: 'expires', at })
    if (world.setup.areLeasesWrong) return
    for (let at = 1; at < world.releases.length; at++) if (mayReleaseEnd(world, at)) moves.push({ what: 'release', at })
    for (let at = 1; at < world.attempts.length; at++) {
      if (mayLateCopyEnd(world, at)) moves.push({ what: 'lateCopy', at })
      if (mayDeletionEnd(world, at)) moves.push({ what: 'deletion', at })
    }
    for (let at = 0; at < world.places.length; at++)
      if (mayForestalledEnd(world, at)) moves.push({ what: 'forestalled', at })
  }

  function apply(world: World, { what, at }: TimeMove): void {
    switch (what) {
      case 'arrives': {
        const [call] = world.late.splice(at, 1)
        if (call) write(world, call)
        return
      }
      case 'lease': {
        const process = entry(world.processes, at)
        process.isLeaseOver = true
        // What it answered was judged by then.
        if (hasEnded(process)) process.step = ended
        for (const { document } of world.places) document.contemporaries &= ~(1 << at)
        return
      }
      case 'release':
        entry(world.releases, at).isLeaseOver = true
        return
      case 'lateCopy':
        entry(world.attempts, at).lateCopy = NOTE_OVER
        return
      case 'deletion':
        entry(world.attempts, at).deletion = NOTE_OVER
        return
      case 'forestalled':
        entry(world.places, at).row.isLeaseOver = true
        return
      case 'expires':
        Object.assign(entry(world.places, at).document, NO_DOCUMENT)
    }
  }

  function describe(world: World, { what, at }: TimeMove): string {
    switch (what) {
      case 'arrives': {
        const { write: name, sender, attempt, release } = entry(world.late, at)
        return `${nameOf(world, sender)}: ${WRITE_NAMES[name]} of ${release ? `release ${release} of ` : ''}${attempt} arrives`
      }
      case 'lease':
        return `the lease of ${nameOf(world, at)} ends`
      case 'release':
        return `the lease of release ${at} ends`
      case 'lateCopy':
      case 'deletion':
        return `the note of ${what} ${at} ends`
      case 'forestalled':
        return `what was forestalled at ${at} ends`
      case 'expires':
        return `the tombstone at ${at} expires`
    }
  }

  return { list, apply, describe }
}
