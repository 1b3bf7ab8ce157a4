/** One workspace as the stores hold it, the processes at work on it, and what is on the wire. A file has one byte. */
export interface World {
  setup: Setup
  /** quota_bytes - remaining_bytes. */
  used: number
  /** check_due_at is there: the resolver will look at this workspace. */
  isDue: boolean
  /** There is an audit: what only it looks at is remembered. */
  isAudited: boolean
  /** By how much `used` was wrong from the beginning, until an audit repairs it. No store knows it. */
  drift: number
  /** corrected_in is later than every cut. */
  isCorrected: boolean
  cut: Cut
  /** How many faults may still happen. */
  faults: number
  /** By attempt. Attempts count from 1, the older the lower; 0 means none, here as everywhere. */
  attempts: Attempt[]
  /** The markers of releases in the counter, by release id. */
  releases: ReleaseMarker[]
  /** By document id: what twins share. */
  places: Place[]
  processes: Process[]
  /** Calls that nobody waits for any more and that will be applied, once more perhaps. */
  late: Call[]
}

/** What does not change during a run. */
export interface Setup {
  quota: number
  maxTakings: number
  /** The place of each attempt. */
  placeOf: readonly number[]
  roles: readonly Role[]
  /** Anybody may take any lease for over, and any process for dead, at any moment. */
  areLeasesWrong?: true
}

export type Role =
  | { kind: 'promotion'; attempt: number; hasKey: boolean }
  | { kind: 'deletion'; place: number }
  | { kind: 'resolver' }
  | { kind: 'audit' }

/**
 * What an audit remembers of the version at which it cut through the ledger, and what versions tell it about what it
 * meets later. There is one cut, since a scenario has at most one audit. Bit masks of attempts.
 */
export interface Cut {
  /** NO_CUT.phase: nobody adds up. */
  phase: 0 | typeof LISTING | typeof SCANNING
  used: number
  /** What was counted. The model remembers it, and no audit knows it. */
  held: number
  /** counted_from is later. */
  later: number
  /** `undos` has changed while the reservations were listed. */
  isUndone: boolean
  /** Release ids: of markers that were not there yet, and may be when the reservations were listed. */
  doubts: number
  /** Release ids: closed_in is later. */
  laterReleases: number
  /** The audit has added up something else than was counted. */
  isWrong: boolean
}

export const LISTING = 1
export const SCANNING = 2

export interface Attempt {
  /** The marker of its taking is in the counter. */
  isTaking: boolean
  lateCopy: Note
  deletion: Note
  hasObject: boolean
  /** Its document was recorded at some time. Like `wasRetired`, what the model remembers and no store. */
  wasRecorded: boolean
  wasRetired: boolean
}

export const NO_NOTE = 0
export const NOTED = 1
export const NOTE_OVER = 2
export type Note = typeof NO_NOTE | typeof NOTED | typeof NOTE_OVER

export interface ReleaseMarker {
  /** Whose bytes go back; 0: there is no such marker. */
  attempt: number
  isDeletion: boolean
  isLeaseOver: boolean
}

export interface Place {
  row: Row
  document: DocumentItem
}

/** A reservation, under the document id. */
export interface Row {
  attempt: number
  purpose: Purpose
  /** Of one that was forestalled: the others have the lease of their attempt. */
  isLeaseOver: boolean
  /** A release id. */
  closedBy: number
}

export const PROMOTION = 0
export const CLAIM = 1
export const FORESTALLED = 2
export type Purpose = typeof PROMOTION | typeof CLAIM | typeof FORESTALLED

export interface DocumentItem {
  kind: Kind
  /** Whose document it is or was; of a tombstone that only fences: 0. */
  attempt: number
  /** A release id. */
  closedBy: number
  /** expires_at is there. */
  isFinished: boolean
  fencedThrough: number
  /** Bit mask of the functions that lived when expires_at was set. It will be far in their past when the tombstone expires. */
  contemporaries: number
}

export const NOTHING = 0
export const DOCUMENT = 1
export const TOMBSTONE = 2
export type Kind = typeof NOTHING | typeof DOCUMENT | typeof TOMBSTONE

export interface Process {
  /** What it does next: an index into the steps of the model. */
  step: number
  /** The attempt it is at work on: its own, or one that it resolves, takes over or deletes. */
  about: number
  /** The release id it uses. */
  release: number
  copy: Answer
  /** The answer to the removal of its own marker, beside the copy. */
  unmarked: Answer
  memo: number
  /** Of a promotion: it is over for longer than its lease, and so is all that it sent, but for copies. */
  isLeaseOver: boolean
  /** The counter was written since this process read it. */
  hasChanged: boolean
  /** What resolver and audit have read: bit masks of attempts and of release ids. */
  seenAttempts: number
  /** Of the others: the one release that has closed what they are about. */
  seenReleases: number
}

export const PENDING = 0
export const SUCCEEDED = 1
export const FAILED = 2
export const UNANSWERED = 3
export type Answer = typeof PENDING | typeof SUCCEEDED | typeof FAILED | typeof UNANSWERED

export interface Call {
  /** An index into the writes of the model. */
  write: number
  /** The process that sent it. */
  sender: number
  attempt: number
  release: number
}

/** Step 0 of every process: not begun, or between two runs. */
export const WAITING = 0
export const MAX_RELEASES = 6
export const MAX_LATE = 4

/** An entry that is known to be there. */
export function entry<T>(list: { readonly [index: number]: T }, index: number): T {
  return list[index] as T
}

export const placeOf = (world: World, attempt: number): Place =>
  entry(world.places, entry(world.setup.placeOf, attempt))

/** Its document was deleted, and its bytes are not given back yet. */
export const isUnfinished = ({ kind, attempt, isFinished }: DocumentItem): boolean =>
  kind === TOMBSTONE && attempt !== 0 && !isFinished

const ATTEMPT_IDS: readonly (readonly number[])[] = [[], [], [1], [1, 2], [1, 2, 3]]

export const attemptIds = ({ attempts }: World): readonly number[] => entry(ATTEMPT_IDS, attempts.length)
