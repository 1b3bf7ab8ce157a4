/**
 * What the ledger before this one came to, when all open reservations of a workspace stood in the item of its counter (commit
 * 4c95824): rates, bursts and the overload in this very simulator, with that commit's handler and adapters in it.
 */
export const BEFORE = {
  /** By seconds of a copy. */
  sustained: { 0.1: 0, 1: 0, 5: 0, 20: 0 } as Record<number, number>,
  burst300: '',
  burst1000: '',
  overload: '',
  writes: '',
  atRest: '6 calls, 4 units, $14.28',
}
