import { FALSE_FINDING, misread, type PlantedBug, SUM, skip } from './planted-bug.ts'
import { SCENARIOS } from './scenarios.ts'
import type { Next, ReadStep } from './steps.ts'
import { DOCUMENT, type Process, placeOf, type World } from './world.ts'

const { audit: scenario } = SCENARIOS

/** Leads from one of the steps to another, where the protocol leads elsewhere. */
const leads = (name: string, from: Next, to: string): PlantedBug['plant'] =>
  misread(name, (choices) => choices.map((choice) => (choice.next === from ? { ...choice, next: to } : choice)))

/** What an audit reads too early, in another order, or not at all. */
export const PLANTED_IN_AUDIT: readonly PlantedBug[] = [
  {
    name: 'reads documents before it has listed the reservations',
    plant: ({ steps }) => {
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
    scenario,
    faults: 0,
    breaks: SUM,
  },
  {
    name: 'does not ask whether a reservation was undone while it listed them',
    plant: ({ steps }) => {
      const { read } = steps['audit.again'] as ReadStep
      steps['audit.again'] = {
        read: (world, process, index) => {
          world.cut.isUndone = false
          return read(world, process, index)
        },
      }
    },
    scenario,
    breaks: SUM,
  },
  {
    name: 'takes a reservation for released that a release closed while it listed them',
    plant: misread('audit.rows', (choices, { cut }) => {
      cut.doubts = 0
      return choices
    }),
    scenario,
    breaks: SUM,
  },
  {
    name: 'takes every closed tombstone for one whose bytes were given back at the cut',
    plant: misread('audit.again', (choices, { cut }, process) => {
      Object.assign(process, { seenReleases: 0 })
      cut.laterReleases = 0
      return choices
    }),
    scenario,
    faults: 0,
    breaks: SUM,
  },
  {
    name: 'counts a tombstone whose bytes were given back before the cut',
    plant: misread('audit.again', (choices, _, process) => {
      process.seenReleases = 255
      return choices
    }),
    scenario,
    faults: 0,
    breaks: SUM,
  },
  {
    name: 'counts what was taken after the cut',
    plant: misread('audit.again', (choices, { cut }) => {
      cut.later = 0
      return choices
    }),
    scenario,
    faults: 0,
    breaks: SUM,
  },
  {
    name: 'looks for the object after the document',
    plant: ({ steps }) => {
      const [object, document] = [steps['audit.findObject'], steps['audit.findLost']] as [ReadStep, ReadStep]
      const next = (step: ReadStep, from: string, to: string): ReadStep => ({
        read: (...of) => step.read(...of).map((choice) => ({ ...choice, next: choice.next === from ? to : choice.next })),
      })
      steps['audit.findObject'] = next(document, 'audit.report', 'audit.findLost')
      steps['audit.findLost'] = next(object, 'audit.findLost', 'audit.report')
    },
    scenario,
    faults: 0,
    breaks: FALSE_FINDING,
  },
  {
    name: 'takes the object of a deletion under way for a loose one',
    plant: misread('audit.findDocument', (choices, world, { about }) =>
      placeOf(world, about).document.kind === DOCUMENT ? choices : [{ label: 'finds none', next: 'audit.findLoose' }],
    ),
    scenario,
    faults: 0,
    breaks: FALSE_FINDING,
  },
  {
    name: 'takes an object for a loose one without looking for its row',
    plant: leads('audit.findMarker', 'audit.findRow', 'audit.findDocument'),
    scenario: SCENARIOS.plainAudit,
    faults: 0,
    breaks: FALSE_FINDING,
  },
  {
    name: 'takes an object for a loose one without looking for it again',
    plant: skip('audit.findLoose', 'audit.report'),
    scenario,
    breaks: FALSE_FINDING,
  },
  {
    name: 'takes a deletion under way for a left one',
    plant: skip('audit.findNote', 'audit.findTombstone'),
    scenario,
    faults: 0,
    breaks: FALSE_FINDING,
  },
]
