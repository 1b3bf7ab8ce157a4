import { completeDeletion, type Steps } from './steps.ts'
import { DOCUMENT, entry, type Place, type World } from './world.ts'

function placeOfDeletion(world: World, index: number): Place {
  const role = entry(world.setup.roles, index)
  return entry(world.places, role.kind === 'deletion' ? role.place : 0)
}

/** An administration command (lib/promotion/delete-document.ts): it may be suspended for any time, and then go on. */
export function deletionSteps(): Steps {
  return {
    'deletion.start': {
      read: (world, _, index) => {
        const { document } = placeOfDeletion(world, index)
        if (document.kind !== DOCUMENT) return [{ label: 'finds no document', next: 'ended' }]
        return [{ label: 'finds the document', next: 'deletion.findRow', about: document.attempt }]
      },
    },
    /** Recorded, but not settled: the reservation would be the document's second claim to its bytes. */
    'deletion.findRow': {
      read: (world, { about }, index) => {
        if (placeOfDeletion(world, index).row.attempt !== about)
          return [{ label: 'finds no row', next: 'deletion.mark' }]
        return [{ label: 'finds its row', next: 'deletion.unmark' }]
      },
    },
    'deletion.unmark': { write: 'unmark', on: { done: 'deletion.remove', failed: 'ended' } },
    'deletion.remove': { write: 'remove', on: { done: 'deletion.mark', failed: 'ended' } },
    'deletion.mark': { write: 'mark', inRelease: true, on: { done: 'deletion.retire', failed: 'ended' } },
    ...completeDeletion('deletion', 'ended', 'ended'),
  }
}
