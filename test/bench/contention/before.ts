/**
 * What the ledger before this one came to, when all open reservations of a workspace stood in the item of its counter (commit
 * 4c95824), in this very simulator with that commit's handler and adapters in it.
 */
export const BEFORE = {
  /** By seconds of a copy. */
  sustained: { 0.1: 120, 1: 40, 5: 15, 20: 8 } as Record<number, number>,
  burst300: '151, 101 left',
  burst1000: '132, 126 left',
  /** At three times 40 a second. */
  overload: '22 %, then none for as long as we watched, 500 left',
  writes: '37; 36; at three times the rate 113',
  atRest: '6 calls, 4 units, $14.28',
}
