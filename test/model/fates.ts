import type { Sent } from './writes.ts'

/** What may become of a call. Whether it is refused by its condition is not a matter of fate. */
export interface Fate {
  label: string
  /** Of calls that are sent so; none: of the copy and the openings of a reservation. */
  sent: readonly Sent[]
  /** Applied when it is sent. */
  isApplied: boolean
  /** Applied (once more) at some later moment. */
  isLate: boolean
  outcome: 'answered' | 'refused' | 'failed' | 'sentAgain' | 'killed'
}

const OPENS = ['once', 'afresh'] as const
const ALL = [...OPENS, 'repeatedly'] as const
const SENT_AGAIN = ['afresh', 'repeatedly'] as const

/** The first is no fault. Another call that was throttled for good counts as lost: nobody builds on knowing better. */
export const FATES: readonly Fate[] = [
  { label: 'is answered', sent: [...ALL, 'ifUnchanged'], isApplied: true, isLate: false, outcome: 'answered' },
  { label: 'is lost', sent: [...ALL, 'ifUnchanged'], isApplied: false, isLate: false, outcome: 'failed' },
  { label: 'is applied, not answered', sent: ALL, isApplied: true, isLate: false, outcome: 'failed' },
  { label: 'is not answered, and late', sent: ALL, isApplied: false, isLate: true, outcome: 'failed' },
  { label: 'is late, its process killed', sent: ALL, isApplied: false, isLate: true, outcome: 'killed' },
  {
    label: 'is applied, answered 5xx, sent again',
    sent: SENT_AGAIN,
    isApplied: true,
    isLate: false,
    outcome: 'sentAgain',
  },
  {
    label: 'is not answered, sent again, and late',
    sent: ['afresh'],
    isApplied: false,
    isLate: true,
    outcome: 'sentAgain',
  },
  {
    label: 'is answered, and comes once more',
    sent: ['repeatedly'],
    isApplied: true,
    isLate: true,
    outcome: 'answered',
  },
  { label: 'is refused', sent: [], isApplied: false, isLate: false, outcome: 'refused' },
]
