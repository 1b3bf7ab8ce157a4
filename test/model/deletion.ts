import { completeDeletion, type Steps, settle } from './steps.ts'
import { DOCUMENT, entry, isUnfinished, type Place, type World } from './world.ts'

function placeOfDeletion(world: World, index: number): Place {
  const role = entry(world.setup.roles, index)
  return entry(world.places, role.kind === 'deletion' ? role.place : 0)
}

/** lib/promotion/delete-document.ts */
export function deletionSteps(): Steps {
  return {
    'deletion.start': {
      read: (world, _, index) => {
        const { document } = placeOfDeletion(world, index)
        const isThere = document.kind === DOCUMENT || isUnfinished(document)
        if (!isThere) return [{ label: 'finds no document', next: 'ended' }]
        return [{ label: 'finds the document', next: 'deletion.findRow', about: document.attempt }]
      },
    },
    /** Recorded, but not settled: the reservation would be the document's second claim to its bytes. */
    'deletion.findRow': {
      read: (world, { about }, index) => {
        const isThere = placeOfDeletion(world, index).row.attempt === about
        if (!isThere) return [{ label: 'finds no row', next: 'deletion.note' }]
        return [{ label: 'finds its row', next: 'settleDeleted.unmark' }]
      },
    },
    ...settle('settleDeleted', 'deletion.note', 'ended'),
    'deletion.note': { write: 'noteDeletion', on: { done: 'deletion.schedule', failed: 'ended' } },
    'deletion.schedule': { write: 'schedule', on: { done: 'deletion.retire', failed: 'ended' } },
    ...completeDeletion('deletion', 'ended', 'ended'),
  }
}
