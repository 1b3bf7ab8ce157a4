import { NO_DOCUMENT } from './empty-world.ts'
import { nameOf } from './process-moves.ts'
import type { Model } from './protocol.ts'
import { isLeaseOver } from './resolver.ts'
import { hasEnded } from './steps.ts'
import { attemptIds, type Call, entry, type Role, WAITING, WATCH_OVER, WATCHED, type World } from './world.ts'
import { WRITE_NAMES } from './writes.ts'

export interface TimeMove {
  what: 'arrives' | 'lease' | 'release' | 'watch' | 'expires'
  /** The index of the late call, process, release id, attempt or place. */
  at: number
}

const COPY = WRITE_NAMES.indexOf('copy')
const WATCH = WRITE_NAMES.indexOf('watch')

/**
 * What time does. Leases are longer than a function lives and than what it sent takes to arrive (only copies may take longer,
 * but no longer than a watch); a tombstone stays longer than all that. A deletion keeps to no time.
 */
export function createTimeMoves(model: Model, write: (world: World, call: Call) => string) {
  const ended = model.indexOf('ended')
  const kindOf = (world: World, index: number): Role['kind'] => entry(world.setup.roles, index).kind
  const isFunction = (world: World, index: number): boolean =>
    kindOf(world, index) === 'promotion' || kindOf(world, index) === 'resolver'

  function mayLeaseEnd(world: World, index: number): boolean {
    const process = entry(world.processes, index)
    if (process.isLeaseOver || process.step === WAITING || kindOf(world, index) !== 'promotion') return false
    const isAtWork =
      !hasEnded(process) || world.late.some(({ sender, write: sent }) => sender === index && sent !== COPY)
    return !isAtWork || model.doLeasesEndEarly
  }

  function mayReleaseEnd(world: World, release: number): boolean {
    const marker = entry(world.releases, release)
    if (marker.attempt === 0 || marker.isLeaseOver) return false
    const isAtWork =
      world.processes.some((process, index) => process.release === release && isFunction(world, index)) ||
      world.late.some((call) => call.release === release && isFunction(world, call.sender))
    return !isAtWork || model.doLeasesEndEarly
  }

  function mayWatchEnd(world: World, attempt: number): boolean {
    if (entry(world.attempts, attempt).watch !== WATCHED || !isLeaseOver(world, attempt)) return false
    const isAtWork = world.processes.some(
      ({ about, seenAttempts }, index) =>
        isFunction(world, index) && (about === attempt || seenAttempts & (1 << attempt)),
    )
    return (
      !isAtWork && !world.late.some((call) => call.attempt === attempt && (call.write === COPY || call.write === WATCH))
    )
  }

  function mayExpire(world: World, place: number): boolean {
    const { isFinished, contemporaries } = entry(world.places, place).document
    return isFinished && contemporaries === 0 && !world.late.some(({ sender }) => kindOf(world, sender) === 'resolver')
  }

  function list(world: World, moves: object[]): void {
    for (let at = 0; at < world.late.length; at++) moves.push({ what: 'arrives', at })
    for (let at = 0; at < world.processes.length; at++) if (mayLeaseEnd(world, at)) moves.push({ what: 'lease', at })
    for (let at = 1; at < world.releases.length; at++) if (mayReleaseEnd(world, at)) moves.push({ what: 'release', at })
    for (let at = 1; at < world.attempts.length; at++) if (mayWatchEnd(world, at)) moves.push({ what: 'watch', at })
    for (let at = 0; at < world.places.length; at++) if (mayExpire(world, at)) moves.push({ what: 'expires', at })
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
      case 'watch':
        entry(world.attempts, at).watch = WATCH_OVER
        return
      case 'expires':
        Object.assign(entry(world.places, at).document, NO_DOCUMENT)
        for (const attempt of attemptIds(world))
          if (entry(world.setup.placeOf, attempt) === at) entry(world.attempts, attempt).isFormer = false
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
      case 'watch':
        return `the watch for ${at} ends`
      case 'expires':
        return `the tombstone at ${at} expires`
    }
  }

  return { list, apply, describe }
}
