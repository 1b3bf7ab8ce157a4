import { BYTES, LOOSE_OBJECT, misread, NO_DOCUMENT, OBJECT, type PlantedBug, redirect } from './planted-bug.ts'
import { SCENARIOS } from './scenarios.ts'

/** Steps left out, or taken in another order. */
export const PLANTED_STEPS: readonly PlantedBug[] = [
  {
    name: 'a promotion: the document is recorded before the copy is answered',
    plant: (protocol) => redirect(protocol, 'promotion.open', { done: 'promotion.record' }),
    scenario: SCENARIOS.plain,
    breaks: OBJECT,
  },
  {
    name: 'a promotion: the row goes before its marker',
    plant: ({ steps }) => {
      steps['promotion.settle'] = { read: () => [{ label: 'settles', next: 'settle.remove' }] }
    },
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'an undo: bytes are released although the row may still arrive',
    plant: (protocol) => redirect(protocol, 'promotion.open', { failed: 'unopened.release' }),
    scenario: SCENARIOS.twins,
    breaks: BYTES,
  },
  {
    name: 'an undo: bytes are released although another’s row kept the fence out',
    plant: (protocol) => redirect(protocol, 'promotion.forestall', { occupied: 'unopened.release' }),
    scenario: SCENARIOS.twins,
    faults: 1,
    breaks: BYTES,
  },
  {
    name: 'an undo: nobody watches for a copy that was not answered',
    plant: (protocol) => redirect(protocol, 'undo.fence', { fenced: 'undo.unmark' }),
    scenario: SCENARIOS.plain,
    faults: 1,
    breaks: LOOSE_OBJECT,
  },
  {
    name: 'an undo: does not fence',
    plant: (protocol) => redirect(protocol, 'promotion.record', { failed: 'undo.unmark' }),
    scenario: SCENARIOS.plain,
    breaks: NO_DOCUMENT,
  },
  {
    name: 'an undo: answers that there is no document when the fence failed as well',
    plant: (protocol) => redirect(protocol, 'promotion.record', { failed: 'undo.afterUnmark' }),
    scenario: SCENARIOS.plain,
    breaks: NO_DOCUMENT,
  },
  {
    name: 'an undo: bytes are released before the row is closed',
    plant: (protocol) => {
      redirect(protocol, 'undo.mark', { done: 'undo.release' })
      redirect(protocol, 'undo.release', { done: 'undo.close' })
      redirect(protocol, 'undo.close', { closed: 'undo.remove' })
    },
    scenario: SCENARIOS.plain,
    faults: 1,
    breaks: BYTES,
  },
  {
    name: 'an undo: the row is closed before the marker of its taking is gone',
    plant: (protocol) => redirect(protocol, 'undo.fence', { fenced: 'undo.discard' }),
    scenario: SCENARIOS.twins,
    faults: 1,
    breaks: BYTES,
  },
  {
    name: 'a takeover: watches before it fences',
    plant: (protocol) => {
      misread(protocol, 'promotion.inProgress', (choices) =>
        choices.map((choice) => (choice.next === 'takeOver.fence' ? { ...choice, next: 'takeOver.watch' } : choice)),
      )
      redirect(protocol, 'takeOver.watch', { done: 'takeOver.fence' })
      redirect(protocol, 'takeOver.fence', { fenced: 'takeOver.unmark' })
      redirect(protocol, 'takeOver.fenceBeside', { fenced: 'takeOver.unmark' })
    },
    scenario: SCENARIOS.twins,
    faults: 1,
    breaks: OBJECT,
  },
  {
    name: 'a takeover: does not watch for the copy of the dead',
    plant: (protocol) => {
      redirect(protocol, 'takeOver.fence', { fenced: 'takeOver.unmark' })
      redirect(protocol, 'takeOver.fenceBeside', { fenced: 'takeOver.unmark' })
    },
    scenario: SCENARIOS.twins,
    faults: 1,
    breaks: LOOSE_OBJECT,
  },
  {
    name: 'a deletion: its tombstone is finished before the bytes are released',
    plant: (protocol) => {
      redirect(protocol, 'deletion.discard', { done: 'deletion.finish' })
      redirect(protocol, 'deletion.finish', { done: 'deletion.release' })
      redirect(protocol, 'deletion.release', { done: 'deletion.unmarkRelease' })
    },
    scenario: SCENARIOS.again,
    breaks: BYTES,
  },
  {
    name: 'the resolver: does not watch for the copy of the dead',
    plant: (protocol) => {
      redirect(protocol, 'resolveRow.fence', { fenced: 'resolveRow.unmark' })
      redirect(protocol, 'resolveRow.fenceBeside', { fenced: 'resolveRow.unmark' })
    },
    scenario: SCENARIOS.plain,
    faults: 1,
    breaks: LOOSE_OBJECT,
  },
]
