import { BYTES, misread, OBJECT, type PlantedBug } from './planted-bug.ts'
import { isLeaseOver } from './resolver.ts'
import { SCENARIOS } from './scenarios.ts'
import { attemptIds, DOCUMENT, entry, placeOf } from './world.ts'

/** Conclusions from what was read too early, or in another order. */
export const PLANTED_READS: readonly PlantedBug[] = [
  {
    name: 'leases end while their processes are at work',
    plant: (protocol) => {
      protocol.doLeasesEndEarly = true
    },
    scenario: SCENARIOS.plain,
    faults: 0,
    breaks: BYTES,
  },
  {
    name: 'the resolver: takes a fence for an open row',
    plant: (protocol) =>
      misread(protocol, 'resolver.rows', (choices, world) =>
        choices.map((choice) => {
          const isThere = choice.about !== undefined && placeOf(world, choice.about).row.attempt === choice.about
          return choice.next === 'resolver.findTaking' && isThere ? { ...choice, next: 'resolver.unmark' } : choice
        }),
      ),
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'the resolver: gives a taking up that it saw before it saw no row',
    plant: (protocol) =>
      misread(protocol, 'resolver.findTaking', () => [{ label: 'does not look again', next: 'resolver.watch' }]),
    scenario: SCENARIOS.plain,
    faults: 1,
    breaks: OBJECT,
  },
  {
    name: 'the resolver: judges leases after it has read the rows',
    plant: (protocol) => {
      misread(protocol, 'resolver.start', (choices, world, process) => {
        for (const attempt of attemptIds(world)) {
          if (entry(world.attempts, attempt).isTaking) process.seenAttempts |= 1 << attempt
        }
        return choices
      })
      misread(protocol, 'resolver.findTaking', (choices, world, { about }) =>
        isLeaseOver(world, about) ? choices : [{ label: 'finds the taking, not overdue', next: 'waiting' }],
      )
    },
    scenario: SCENARIOS.plain,
    faults: 1,
    breaks: BYTES,
  },
  {
    name: 'the resolver: removes a closed row whose release it has not seen',
    plant: (protocol) =>
      misread(protocol, 'resolver.findRelease', () => [
        { label: 'does not look again', next: 'resolver.removeClosed' },
      ]),
    scenario: SCENARIOS.plain,
    faults: 1,
    breaks: BYTES,
  },
  {
    name: 'a deletion: looks for the row before the document',
    plant: (protocol) => {
      protocol.steps['deletion.start'] = {
        read: (world) => {
          const { attempt: about } = entry(world.places, 0).row
          return [{ label: 'looks for a row', next: 'deletion.findDocument', about }]
        },
      }
      protocol.steps['deletion.findDocument'] = {
        read: (world, { about: seen }) => {
          const { kind, attempt: about } = entry(world.places, 0).document
          if (kind !== DOCUMENT) return [{ label: 'finds no document', next: 'ended' }]
          return [{ label: 'finds the document', next: seen === about ? 'deletion.unmark' : 'deletion.mark', about }]
        },
      }
    },
    scenario: SCENARIOS.audit,
    faults: 0,
    breaks: BYTES,
  },
  {
    name: 'the audit: reads documents before rows',
    plant: (protocol) => {
      const [rows, documents] = [protocol.steps['audit.rows'], protocol.steps['audit.documents']]
      if (!rows || !documents) return
      Object.assign(protocol.steps, { 'audit.rows': documents, 'audit.documents': rows })
      misread(protocol, 'audit.rows', (choices) => choices.map((choice) => ({ ...choice, next: 'audit.documents' })))
      misread(protocol, 'audit.documents', (choices) => choices.map((choice) => ({ ...choice, next: 'audit.retired' })))
    },
    scenario: SCENARIOS.audit,
    faults: 0,
    breaks: BYTES,
  },
  {
    name: 'the audit: discards an object without looking for its row',
    plant: (protocol) =>
      misread(protocol, 'audit.findMarker', (choices) =>
        choices.map((choice) => (choice.next === 'audit.findRow' ? { ...choice, next: 'audit.findDocument' } : choice)),
      ),
    scenario: SCENARIOS.plainAudit,
    faults: 0,
    breaks: OBJECT,
  },
]
