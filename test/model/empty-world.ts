import {
  type Attempt,
  type Cut,
  type DocumentItem,
  MAX_RELEASES,
  NO_NOTE,
  NOTHING,
  PENDING,
  PROMOTION,
  type Process,
  type ReleaseMarker,
  type Row,
  type Setup,
  WAITING,
  type World,
} from './world.ts'

export const NO_CUT: Cut = {
  phase: 0,
  used: 0,
  held: 0,
  later: 0,
  isUndone: false,
  doubts: 0,
  laterReleases: 0,
  isWrong: false,
}

export const NO_WORK = {
  about: 0,
  release: 0,
  copy: PENDING,
  unmarked: PENDING,
  memo: 0,
  hasChanged: false,
  seenAttempts: 0,
  seenReleases: 0,
} as const satisfies Partial<Process>

/** One by one: Object.assign(process, NO_WORK) would show in the time that the model takes. */
export function clearWork(process: Process): void {
  process.about = 0
  process.release = 0
  process.copy = PENDING
  process.unmarked = PENDING
  process.memo = 0
  process.hasChanged = false
  process.seenAttempts = 0
  process.seenReleases = 0
}

export const NO_ATTEMPT: Attempt = {
  isTaking: false,
  lateCopy: NO_NOTE,
  deletion: NO_NOTE,
  hasObject: false,
  wasRecorded: false,
  wasRetired: false,
}
export const NO_RELEASE: ReleaseMarker = { attempt: 0, isDeletion: false, isLeaseOver: false }
export const NO_ROW: Row = { attempt: 0, purpose: PROMOTION, isLeaseOver: false, closedBy: 0 }
export const NO_DOCUMENT: DocumentItem = {
  kind: NOTHING,
  attempt: 0,
  closedBy: 0,
  isFinished: false,
  fencedThrough: 0,
  contemporaries: 0,
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)

export function emptyWorld(setup: Setup): World {
  return {
    setup,
    used: 0,
    isDue: false,
    drift: 0,
    isAudited: setup.roles.some(({ kind }) => kind === 'audit'),
    isCorrected: false,
    cut: { ...NO_CUT },
    faults: 0,
    attempts: times(setup.placeOf.length, () => ({ ...NO_ATTEMPT })),
    releases: times(MAX_RELEASES + 1, () => ({ ...NO_RELEASE })),
    places: times(Math.max(...setup.placeOf) + 1, () => ({ row: { ...NO_ROW }, document: { ...NO_DOCUMENT } })),
    processes: times(setup.roles.length, () => ({ ...NO_WORK, step: WAITING, isLeaseOver: false })),
    late: [],
  }
}
