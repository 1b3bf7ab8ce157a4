import type { PlantedBug } from './planted-bugs.ts'
import type { Protocol } from './protocol.ts'
import { isLeaseOver } from './resolver.ts'
import { SCENARIOS } from './scenarios.ts'
import type { Choice, ReadStep } from './steps.ts'
import { attemptIds, DOCUMENT, entry, placeOf, type Process, type World } from './world.ts'

const BYTES = 'used bytes = those held, each once'
const OBJECT = 'a document has its object'

/** Replaces what a step reads. @param change given what the protocol would read */
function read(
  { steps }: Protocol,
  name: string,
  change: (choices: Choice[], world: World, process: Process, index: number) => Choice[],
): void {
  const original = steps[name] as ReadStep
  steps[name] = { read: (world, process, index) => change(original.read(world, process, index), world, process, index) }
}

/** Conclusions from what was read too early, or in another order. */
export const plantedReads: readonly PlantedBug[] = [
  {
    name: 'leases end while their processes are at work',
    plant: (protocol) => {
      protocol.doLeasesEndEarly = true
    },
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'a promotion: takes over from a twin that is alive',
    plant: (protocol) =>
      read(protocol, 'promotion.inProgress', (choices, world, { about }) => {
        const { attempt, isFence } = placeOf(world, about).row
        return attempt === 0 || isFence ? choices : [{ label: 'takes over', then: 'takeOver.fence', about: attempt }]
      }),
    scenario: SCENARIOS.twins,
    breaks: BYTES,
  },
  {
    name: 'the resolver: takes a fence for an open row',
    plant: (protocol) =>
      read(protocol, 'resolver.rows', (choices, world) =>
        choices.map((choice) => {
          const isThere = choice.about !== undefined && placeOf(world, choice.about).row.attempt === choice.about
          return choice.then === 'resolver.findTaking' && isThere ? { ...choice, then: 'resolver.unmark' } : choice
        }),
      ),
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'the resolver: gives a taking up that it saw before it saw no row',
    plant: (protocol) =>
      read(protocol, 'resolver.findTaking', () => [{ label: 'does not look again', then: 'resolver.watch' }]),
    scenario: SCENARIOS.plain,
    breaks: OBJECT,
  },
  {
    name: 'the resolver: judges leases after it has read the rows',
    plant: (protocol) => {
      read(protocol, 'resolver.start', (choices, world, process) => {
        for (const attempt of attemptIds(world)) {
          if (entry(world.attempts, attempt).isTaking) process.seenAttempts |= 1 << attempt
        }
        return choices
      })
      read(protocol, 'resolver.findTaking', (choices, world, { about }) =>
        isLeaseOver(world, about) ? choices : [{ label: 'finds the taking, not overdue', then: 'waiting' }],
      )
    },
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'the resolver: removes a closed row whose release it has not seen',
    plant: (protocol) =>
      read(protocol, 'resolver.findRelease', () => [{ label: 'does not look again', then: 'resolver.removeClosed' }]),
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'a deletion: looks for the row before the document',
    plant: (protocol) => {
      protocol.steps['deletion.start'] = {
        read: (world) => {
          const { attempt: about } = entry(world.places, 0).row
          return [{ label: 'looks for a row', then: 'deletion.findDocument', about }]
        },
      }
      protocol.steps['deletion.findDocument'] = {
        read: (world, { about: seen }) => {
          const { kind, attempt: about } = entry(world.places, 0).document
          if (kind !== DOCUMENT) return [{ label: 'finds no document', then: 'ended' }]
          return [{ label: 'finds the document', then: seen === about ? 'deletion.unmark' : 'deletion.mark', about }]
        },
      }
    },
    scenario: SCENARIOS.audit,
    breaks: BYTES,
  },
  {
    name: 'the audit: reads documents before rows',
    plant: (protocol) => {
      const [rows, documents] = [protocol.steps['audit.rows'], protocol.steps['audit.documents']]
      if (!rows || !documents) return
      Object.assign(protocol.steps, { 'audit.rows': documents, 'audit.documents': rows })
      read(protocol, 'audit.rows', (choices) => choices.map((choice) => ({ ...choice, then: 'audit.documents' })))
      read(protocol, 'audit.documents', (choices) => choices.map((choice) => ({ ...choice, then: 'audit.retired' })))
    },
    scenario: SCENARIOS.audit,
    breaks: BYTES,
  },
  {
    name: 'the audit: discards an object without looking for its row',
    plant: (protocol) =>
      read(protocol, 'audit.findMarker', (choices) =>
        choices.map((choice) => (choice.then === 'audit.findRow' ? { ...choice, then: 'audit.findDocument' } : choice)),
      ),
    scenario: SCENARIOS.plainAudit,
    breaks: OBJECT,
  },
]
