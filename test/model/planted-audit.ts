import { FALSE_FINDING, misread, type Plant, type PlantedBugs, SUM, skip } from './planted-bug.ts'
import { SCENARIOS } from './scenarios.ts'
import type { Next, ReadStep } from './steps.ts'
import { DOCUMENT, type Process, placeOf, type World } from './world.ts'

/** Leads from one of the steps to another, where the protocol leads elsewhere. */
const leads = (name: string, from: Next, to: string): Plant =>
  misread(name, (choices) => choices.map((choice) => (choice.next === from ? { ...choice, next: to } : choice)))

/** What an audit reads too early, in another order, or not at all. */
export const PLANTED_IN_AUDIT: readonly PlantedBugs[] = [
  {
    scenario: SCENARIOS.audit,
    breaks: SUM,
    bugs: {
      'the audit: reads documents before it has listed the reservations': ({ steps }) => {
        const [rows, again, documents] = ['audit.rows', 'audit.again', 'audit.documents'].map((name) => {
          return (steps[name] as ReadStep).read
        }) as [ReadStep['read'], ReadStep['read'], ReadStep['read']]
        const all = (world: World, process: Process, index: number) => {
          documents(world, process, index)
          return [{ label: 'reads the documents', next: 'audit.late' }]
        }
        steps['audit.rows'] = { read: all }
        steps['audit.late'] = { read: (...of) => rows(...of).map((choice) => ({ ...choice, next: 'audit.again' })) }
        steps['audit.again'] = {
          read: (world, process, index) => {
            const choices = again(world, process, index)
            world.cut.isWrong = !world.cut.isUndone && process.seenAttempts !== world.cut.held
            return choices.map((choice) => ({ ...choice, next: 'waiting' }))
          },
        }
      },
      'the audit: does not ask whether a reservation was undone while it listed them': ({ steps }) => {
        const { read } = steps['audit.again'] as ReadStep
        steps['audit.again'] = {
          read: (world, process, index) => {
            world.cut.isUndone = false
            return read(world, process, index)
          },
        }
      },
      'the audit: takes a reservation for released that a release closed while it listed them': misread(
        'audit.rows',
        (choices, { cut }) => {
          cut.doubts = 0
          return choices
        },
      ),
      'the audit: takes every closed tombstone for one whose bytes were given back at the cut': misread(
        'audit.again',
        (choices, { cut }, process) => {
          Object.assign(process, { seenReleases: 0 })
          cut.laterReleases = 0
          return choices
        },
      ),
      'the audit: counts a tombstone whose bytes were given back before the cut': misread(
        'audit.again',
        (choices, _, process) => {
          process.seenReleases = 255
          return choices
        },
      ),
      'the audit: counts what was taken after the cut': misread('audit.again', (choices, { cut }) => {
        cut.later = 0
        return choices
      }),
    },
  },
  {
    scenario: SCENARIOS.audit,
    breaks: FALSE_FINDING,
    bugs: {
      'the audit: looks for the object after the document': ({ steps }) => {
        const [object, document] = [steps['audit.findObject'], steps['audit.findLost']] as [ReadStep, ReadStep]
        const next = (step: ReadStep, from: string, to: string): ReadStep => ({
          read: (...of) =>
            step.read(...of).map((choice) => ({ ...choice, next: choice.next === from ? to : choice.next })),
        })
        steps['audit.findObject'] = next(document, 'audit.report', 'audit.findLost')
        steps['audit.findLost'] = next(object, 'audit.findLost', 'audit.report')
      },
      'the audit: takes the object of a deletion under way for a loose one': misread(
        'audit.findDocument',
        (choices, world, { about }) =>
          placeOf(world, about).document.kind === DOCUMENT
            ? choices
            : [{ label: 'finds none', next: 'audit.findLoose' }],
      ),
      'the audit: takes an object for a loose one without looking for it again': skip(
        'audit.findLoose',
        'audit.report',
      ),
      'the audit: takes a deletion under way for a left one': skip('audit.findNote', 'audit.findTombstone'),
    },
  },
  {
    scenario: SCENARIOS.plainAudit,
    breaks: FALSE_FINDING,
    bugs: {
      'the audit: takes an object for a loose one without looking for its row': leads(
        'audit.findMarker',
        'audit.findRow',
        'audit.findDocument',
      ),
    },
  },
]
