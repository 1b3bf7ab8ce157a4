import type { PlantedBug } from './planted-bugs.ts'
import type { Protocol } from './protocol.ts'
import { SCENARIOS } from './scenarios.ts'
import type { Next, WriteStep } from './steps.ts'

const BYTES = 'used bytes = those held, each once'
const OBJECT = 'a document has its object'

/** Lets a write be followed by another step than it should be. */
function lead({ steps }: Protocol, from: string, answers: Record<string, Next>): void {
  const step = steps[from] as WriteStep
  steps[from] = { ...step, on: { ...step.on, ...answers } }
}

/** Steps left out, or taken in another order. */
export const plantedSteps: readonly PlantedBug[] = [
  {
    name: 'a promotion: the document is recorded before the copy is answered',
    plant: (protocol) => lead(protocol, 'promotion.open', { done: 'promotion.record' }),
    scenario: SCENARIOS.plain,
    breaks: OBJECT,
  },
  {
    name: 'a promotion: the row goes before its marker',
    plant: ({ steps }) => {
      steps['promotion.settle'] = { read: () => [{ label: 'settles', then: 'settle.remove' }] }
    },
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'an undo: bytes are released although the row may still arrive',
    plant: (protocol) => lead(protocol, 'promotion.open', { failed: 'unopened.release' }),
    scenario: SCENARIOS.twins,
    breaks: BYTES,
  },
  {
    name: 'an undo: bytes are released although another’s row kept the fence out',
    plant: (protocol) => lead(protocol, 'promotion.forestall', { occupied: 'unopened.release' }),
    scenario: SCENARIOS.twins,
    breaks: BYTES,
  },
  {
    name: 'an undo: nobody watches for a copy that was not answered',
    plant: (protocol) => lead(protocol, 'undo.fence', { fenced: 'undo.unmark' }),
    scenario: SCENARIOS.plain,
    breaks: 'at rest: no object without its document',
  },
  {
    name: 'an undo: does not fence',
    plant: (protocol) => lead(protocol, 'promotion.record', { failed: 'undo.unmark' }),
    scenario: SCENARIOS.plain,
    breaks: OBJECT,
  },
  {
    name: 'an undo: answers that there is no document when the fence failed as well',
    plant: (protocol) => lead(protocol, 'promotion.record', { failed: 'undo.afterUnmark' }),
    scenario: SCENARIOS.plain,
    breaks: 'answered an error, or with a twin’s document: no document',
  },
  {
    name: 'an undo: bytes are released before the row is closed',
    plant: (protocol) => {
      lead(protocol, 'undo.mark', { done: 'undo.release' })
      lead(protocol, 'undo.release', { done: 'undo.close' })
      lead(protocol, 'undo.close', { closed: 'undo.remove' })
    },
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'an undo: the row is closed before the marker of its taking is gone',
    plant: (protocol) => lead(protocol, 'undo.fence', { fenced: 'undo.discard' }),
    scenario: SCENARIOS.twins,
    breaks: BYTES,
  },
  {
    name: 'a takeover: watches before it fences',
    plant: (protocol) => {
      const { read } = protocol.steps['promotion.inProgress'] as { read: never }
      void read
      lead(protocol, 'takeOver.watch', { done: 'takeOver.fence' })
      lead(protocol, 'takeOver.fence', { fenced: 'takeOver.unmark' })
      lead(protocol, 'takeOver.fenceBeside', { fenced: 'takeOver.unmark' })
      takeOverFrom(protocol, 'takeOver.watch')
    },
    scenario: SCENARIOS.twins,
    breaks: OBJECT,
  },
  {
    name: 'a takeover: does not watch for the copy of the dead',
    plant: (protocol) => {
      lead(protocol, 'takeOver.fence', { fenced: 'takeOver.unmark' })
      lead(protocol, 'takeOver.fenceBeside', { fenced: 'takeOver.unmark' })
    },
    scenario: SCENARIOS.twins,
    breaks: 'at rest: no object without its document',
  },
  {
    name: 'a deletion: its tombstone is finished before the bytes are released',
    plant: (protocol) => {
      lead(protocol, 'deletion.discard', { done: 'deletion.finish' })
      lead(protocol, 'deletion.finish', { done: 'deletion.release' })
      lead(protocol, 'deletion.release', { done: 'deletion.unmarkRelease' })
    },
    scenario: SCENARIOS.again,
    breaks: BYTES,
  },
  {
    name: 'the resolver: does not watch for the copy of the dead',
    plant: (protocol) => {
      lead(protocol, 'resolveRow.fence', { fenced: 'resolveRow.unmark' })
      lead(protocol, 'resolveRow.fenceBeside', { fenced: 'resolveRow.unmark' })
    },
    scenario: SCENARIOS.plain,
    breaks: 'at rest: no object without its document',
  },
]

function takeOverFrom({ steps }: Protocol, first: string): void {
  const step = steps['promotion.inProgress']
  if (step === undefined || !('read' in step)) return
  steps['promotion.inProgress'] = {
    read: (...given) =>
      step.read(...given).map((choice) => (choice.then === 'takeOver.fence' ? { ...choice, then: first } : choice)),
  }
}
