import { BYTES, misread, OBJECT, type PlantedBug, SUM } from './planted-bug.ts'
import { isLeaseOver } from './resolver.ts'
import { SCENARIOS } from './scenarios.ts'
import type { ReadStep } from './steps.ts'
import { attemptIds, DOCUMENT, entry, type Process, placeOf, type World } from './world.ts'

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
    name: 'the audit: reads documents before it has listed the reservations',
    plant: (protocol) => {
      const [rows, again, documents] = ['audit.rows', 'audit.again', 'audit.documents'].map((name) => {
        return (protocol.steps[name] as ReadStep).read
      }) as [ReadStep['read'], ReadStep['read'], ReadStep['read']]
      const all = (world: World, process: Process, index: number) => {
        documents(world, process, index)
        return [{ label: 'reads the documents', next: 'audit.late' }]
      }
      protocol.steps['audit.rows'] = { read: all }
      protocol.steps['audit.late'] = { read: rows }
      misread(protocol, 'audit.late', (choices) => choices.map((choice) => ({ ...choice, next: 'audit.again' })))
      protocol.steps['audit.again'] = { read: again }
      misread(protocol, 'audit.again', (choices, world, { seenAttempts }) => {
        world.cut.isWrong = seenAttempts !== world.cut.held
        return choices.map((choice) => ({ ...choice, next: 'waiting' }))
      })
    },
    scenario: SCENARIOS.audit,
    faults: 0,
    breaks: SUM,
  },
  {
    name: 'the audit: does not ask whether a reservation was undone while it listed them',
    plant: (protocol) => {
      const { read } = protocol.steps['audit.again'] as ReadStep
      protocol.steps['audit.again'] = {
        read: (world, process, index) => {
          world.cut.isUndone = false
          return read(world, process, index)
        },
      }
    },
    scenario: SCENARIOS.audit,
    faults: 1,
    breaks: SUM,
  },
  {
    name: 'the audit: takes a reservation for released that a release closed while it listed them',
    plant: (protocol) =>
      misread(protocol, 'audit.rows', (choices, { cut }) => {
        cut.doubts = 0
        return choices
      }),
    scenario: SCENARIOS.audit,
    faults: 1,
    breaks: SUM,
  },
  {
    name: 'the audit: takes a deletion for one that has its bytes that had given them back at the cut',
    plant: (protocol) =>
      misread(protocol, 'audit.again', (choices, { cut }) => {
        cut.emptied = 0
        return choices
      }),
    scenario: SCENARIOS.audit,
    faults: 0,
    breaks: SUM,
  },
  {
    name: 'the audit: counts what was taken after the cut',
    plant: (protocol) =>
      misread(protocol, 'audit.again', (choices, { cut }) => {
        cut.later = 0
        return choices
      }),
    scenario: SCENARIOS.audit,
    faults: 0,
    breaks: SUM,
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
