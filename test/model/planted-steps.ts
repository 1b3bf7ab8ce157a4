import {
  BYTES,
  LOOSE_OBJECT,
  misread,
  NO_DOCUMENT,
  OBJECT,
  type PlantedBugs,
  redirect,
  rewrite,
  UNFINISHED,
} from './planted-bug.ts'
import { SCENARIOS } from './scenarios.ts'
import { type Choice, settle } from './steps.ts'
import { DOCUMENT, entry, placeOf, TOMBSTONE, type World } from './world.ts'

const MARKED = 'the ledger is not marked across a call to S3'

const always = (next: string) => (choices: Choice[]) => choices.map((choice) => ({ ...choice, next }))

/** Steps of promotions and deletions left out, or taken in another order. */
export const PLANTED_STEPS: readonly PlantedBugs[] = [
  {
    scenario: SCENARIOS.plain,
    breaks: OBJECT,
    bugs: {
      'a promotion: the document is recorded before the copy is answered': redirect({
        'promotion.open': { done: 'promotion.record' },
      }),
    },
  },
  {
    scenario: SCENARIOS.again,
    breaks: BYTES,
    bugs: {
      'a promotion with a key: records its document again after it was deleted': (protocol) => {
        const goesOn = (next: string) => (choices: Choice[], world: World) => {
          const { kind, attempt } = placeOf(world, 2).document
          return kind === TOMBSTONE && attempt === 1 ? [{ label: 'goes on', next, about: 2 }] : choices
        }
        misread('promotion.start', goesOn('promotion.claim'))(protocol)
        misread('promotion.replay', goesOn('promotion.take'))(protocol)
        rewrite('record', { where: [['IS_FREE'], ['IS_TOMBSTONE', 'IS_NOT_FENCED']] })(protocol)
      },
    },
  },
  {
    scenario: SCENARIOS.alone,
    breaks: BYTES,
    bugs: {
      'an undo: bytes are released although the row may still arrive': redirect({
        'promotion.open': { failed: 'promotion.unopened' },
      }),
    },
  },
  {
    scenario: SCENARIOS.plain,
    breaks: LOOSE_OBJECT,
    bugs: {
      'an undo: nobody notes a copy that was not answered': redirect({ 'undo.fence': { fenced: 'undo.unmark' } }),
    },
  },
  {
    scenario: SCENARIOS.plain,
    breaks: NO_DOCUMENT,
    bugs: {
      'an undo: does not fence': redirect({ 'promotion.record': { failed: 'undo.unmark' } }),
      'an undo: answers that there is no document when the fence failed as well': redirect({
        'promotion.record': { failed: 'undo.afterUnmark' },
      }),
    },
  },
  {
    scenario: SCENARIOS.plain,
    breaks: BYTES,
    bugs: {
      'an undo: bytes are released before the row is closed': redirect({
        'undo.mark': { done: 'undo.release' },
        'undo.release': { done: 'undo.close' },
        'undo.close': { closed: 'undo.finish' },
      }),
      'an undo: the row is closed before its release is marked': redirect({
        'undo.discard': { done: 'undo.close' },
        'undo.close': { closed: 'undo.mark' },
        'undo.mark': { done: 'undo.release' },
      }),
      'an undo: the row is closed before the marker of its taking is gone': redirect({
        'undo.fence': { fenced: 'undo.discard' },
      }),
    },
  },
  {
    scenario: SCENARIOS.plain,
    breaks: MARKED,
    bugs: {
      'an undo: the ledger is marked before the object is discarded': redirect({
        'undo.unmark': { done: 'undo.mark' },
        'undo.mark': { done: 'undo.discard' },
        'undo.discard': { done: 'undo.close' },
      }),
    },
  },
  {
    scenario: SCENARIOS.wrongPlain,
    breaks: BYTES,
    bugs: {
      'an undo: goes on with its own release although another has closed the row': redirect({
        'undo.close': { byOther: 'undo.release' },
      }),
    },
  },
  {
    scenario: SCENARIOS.twins,
    breaks: OBJECT,
    bugs: {
      'a takeover: notes a late copy before it fences': (protocol) => {
        misread('promotion.meetRow', (choices) =>
          choices.map((choice) => (choice.next === 'takeOver.fence' ? { ...choice, next: 'takeOver.note' } : choice)),
        )(protocol)
        redirect({
          'takeOver.note': { done: 'takeOver.fence' },
          'takeOver.fence': { fenced: 'takeOver.unmark' },
          'takeOver.fenceBeside': { fenced: 'takeOver.unmark' },
          'lateCopy.fence': { fenced: 'lateCopy.discard', inTheWay: 'lateCopy.discard' },
        })(protocol)
      },
    },
  },
  {
    scenario: SCENARIOS.twins,
    breaks: LOOSE_OBJECT,
    bugs: {
      'a takeover: does not note the late copy of the dead': redirect({
        'takeOver.fence': { fenced: 'takeOver.unmark' },
        'takeOver.fenceBeside': { fenced: 'takeOver.unmark' },
      }),
      'a takeover: takes a claim before its late copy is noted': misread('promotion.meetClaim', (choices) =>
        choices.map((choice) =>
          choice.next === 'promotion.noteDead' ? { ...choice, next: 'promotion.claimAgain' } : choice,
        ),
      ),
    },
  },
  {
    scenario: SCENARIOS.audit,
    breaks: BYTES,
    bugs: {
      'a deletion: looks for the row before the document': ({ steps }) => {
        steps['deletion.start'] = {
          read: (world) => {
            const { attempt: about } = entry(world.places, 0).row
            return [{ label: 'looks for a row', next: 'deletion.findDocument', about }]
          },
        }
        steps['deletion.findDocument'] = {
          read: (world, { about: seen }) => {
            const { kind, attempt: about } = entry(world.places, 0).document
            if (kind !== DOCUMENT) return [{ label: 'finds no document', next: 'ended' }]
            const next = seen === about ? 'settleDeleted.unmark' : 'deletion.note'
            return [{ label: 'finds the document', next, about }]
          },
        }
      },
      'a deletion: its tombstone is finished before the bytes are released': redirect({
        'deletion.close': { closed: 'deletion.finish' },
        'deletion.finish': { done: 'deletion.release' },
        'deletion.release': { done: 'deletion.removeNote' },
      }),
    },
  },
  {
    scenario: SCENARIOS.deletions,
    breaks: UNFINISHED,
    bugs: {
      'a deletion: notes itself after the document is retired': (protocol) => {
        misread('deletion.findRow', always('deletion.schedule'))(protocol)
        redirect({ 'deletion.retire': { retired: 'deletion.note' }, 'deletion.note': { done: 'deletion.discard' } })(
          protocol,
        )
      },
      'a deletion: makes the workspace due before it notes itself': (protocol) => {
        misread('deletion.findRow', always('deletion.schedule'))(protocol)
        redirect({ 'deletion.schedule': { done: 'deletion.note' }, 'deletion.note': { done: 'deletion.retire' } })(
          protocol,
        )
      },
    },
  },
  {
    scenario: SCENARIOS.deletions,
    breaks: MARKED,
    bugs: {
      'a deletion: the ledger is marked before the object is discarded': redirect({
        'deletion.retire': { retired: 'deletion.mark' },
        'deletion.mark': { done: 'deletion.discard' },
        'deletion.discard': { done: 'deletion.close' },
      }),
    },
  },
  {
    scenario: SCENARIOS.deletions,
    breaks: BYTES,
    bugs: {
      'a deletion: the tombstone is closed before its release is marked': redirect({
        'deletion.discard': { done: 'deletion.close' },
        'deletion.close': { closed: 'deletion.mark' },
        'deletion.mark': { done: 'deletion.release' },
      }),
    },
  },
  {
    scenario: SCENARIOS.deletions,
    breaks: LOOSE_OBJECT,
    bugs: {
      'a deletion: the object stays': redirect({ 'deletion.retire': { retired: 'deletion.mark' } }),
    },
  },
  {
    scenario: SCENARIOS.wrongDeletion,
    breaks: BYTES,
    bugs: {
      'a deletion: does not settle what is recorded': ({ steps }) => {
        Object.assign(steps, settle('settleDeleted', 'deletion.note', 'ended'))
        steps['settleDeleted.unmark'] = { read: () => [{ label: 'does not settle', next: 'deletion.note' }] }
      },
    },
  },
]
