import type { PlantedBugs } from './plant.ts'

const COUNTER = 'test/support/fakes/quota-ledger.ts'
const ITEMS = 'test/support/fakes/reservations.ts'
const RECORDS = 'test/support/fakes/document-records.ts'
const SENT = 'test/protocol/histories/processes.ts'

/** Conditions left out, writes sent more often than they may be. */
export const PLANTED_WRITES: PlantedBugs = {
  'take: forgets that there must be room': [
    'crowd',
    [0, 0, 0],
    COUNTER,
    ['if (workspace.remainingBytes < sizeBytes)', 'if (false)'],
  ],
  'take: forgets that few others may be under way': [
    'small',
    [0, 1, 0],
    COUNTER,
    ['isCrowded(workspace.takings, maxTakings, leaseExpiresAtMs) || ', ''],
  ],
  'take: sent again after a try that was not answered': ['plain', [0, 1, 0], SENT, ['/take|', '/']],
  'mark: sent again under the same id': ['alone', [1, 2, 0], SENT, ['ledger\\.mark$|', '']],
  'reserve: sent again after a try that was not answered': ['alone', [0, 2, 0], SENT, ['\\.reserve$|', '']],
  'claim: sent again, and comes once more': ['wrongKeyed', [1, 1, 1, 'repeated'], SENT, ['reservations\\.claim|', '']],
  'release: gives bytes back without its marker': [
    'alone',
    [0, 2, 0],
    COUNTER,
    ['!markers || !marker)', '!markers)'],
    ['+= marker.sizeBytes', '+= marker?.sizeBytes ?? markerId.sizeBytes'],
  ],
  'release: is not counted as an undone one': [
    'promotionAudit',
    [2, 1, 0, 'fail_before'],
    COUNTER,
    ["if (markerId.purpose === 'undo') workspace.undone++", ''],
  ],
  'schedule: does not change the version': [
    'deletion',
    [1, 1, 1, 'kill_after'],
    COUNTER,
    ['workspace.version++\n    },\n    async unmark', '},\n    async unmark'],
  ],
  'reschedule: whatever came since the ledger was read': [
    'later',
    [1, 1, 1, 'kill_after'],
    COUNTER,
    ['if (check.nextMs === undefined && workspace.version !== check.version) return', ''],
  ],
  'correct: also what was corrected before': [
    'drift',
    [1, 0, 0],
    COUNTER,
    ['if ((workspace.correctedIn ?? Number.NEGATIVE_INFINITY) >= at.version) return true', ''],
  ],
  'claim: takes the place of an open reservation': [
    'twins',
    [0, 1, 0],
    ITEMS,
    ['if (other && !isReplaced)', "if (other && !isReplaced && other.purpose !== 'promotion')"],
  ],
  'reserve: an attempt with a key reserves without its claim': [
    'wrongKeyed',
    [0, 1, 1],
    ITEMS,
    ["isClaimed ? own?.purpose === 'claim' :", "isClaimed && own ? own.purpose === 'claim' :"],
  ],
  'fence of a reservation: takes the place of an open one': [
    'wrongPlain',
    [2, 1, 1, 'kill_after'],
    ITEMS,
    [
      "isClaimed) {\n      const own = ownOf(reservation)\n      if (own?.purpose === 'promotion') return 'reserved'\n      if (isClaimed",
      'isClaimed) {\n      const own = ownOf(reservation)\n      if (isClaimed',
    ],
    ['if (!isClaimed && !items.has(keyOf(reservation)))', 'if (!isClaimed)'],
  ],
  'hand over: takes a reservation over from another release': [
    'wrongPlain',
    [2, 1, 1, 'fail_before'],
    ITEMS,
    ['reservation.releasedBy ?? release.releaseId', 'release.releaseId'],
  ],
  'remove: removes another attempt’s reservation': [
    'twins',
    [1, 2, 0, 'fail_before', 'repeated'],
    ITEMS,
    ['if (items.get(keyOf(reservation))?.attemptId === reservation.attemptId) items', 'items'],
  ],
  'remove a note: of a deletion that has begun anew': [
    'noted',
    [1, 1, 1, 'kill_after'],
    ITEMS,
    ['if (items.get(key)?.leaseExpiresAtMs === reservation.leaseExpiresAtMs) items', 'items'],
  ],
  'record: ignores the fence': [
    'plain',
    [0, 1, 0],
    RECORDS,
    ["if (tombstone && isFenced(key, document.attemptId)) return 'fenced'", ''],
  ],
  'fence: does not make a tombstone last longer': [
    'tombstone',
    [0, 1, 1],
    RECORDS,
    ['(!tombstone || isLater)', '!tombstone'],
  ],
  'delete: lets the tombstone expire before the deletion is finished': [
    'deletions',
    [0, 0, 0],
    RECORDS,
    ['tombstones.set(key, { document })', 'tombstones.set(key, { document, expiresAtMs: now() + DAY_MS })'],
  ],
  'hand over: takes a tombstone over from another release': [
    'deletions',
    [1, 1, 0],
    RECORDS,
    ['if (tombstone && tombstone.releasedBy === undefined)', 'if (tombstone)'],
  ],
  'hand over: a finished tombstone, too': [
    'deletions',
    [0, 1, 0],
    RECORDS,
    [
      'const tombstone = unreleasedOf(keyOf(workspaceId, documentId), attemptId)\n      if (tombstone && tombstone.releasedBy === undefined)',
      'const tombstone = tombstones.get(keyOf(workspaceId, documentId))\n      if (tombstone && (tombstone.releasedBy === undefined || tombstone.expiresAtMs !== undefined))',
    ],
  ],
  'hand over: a tombstone does not tell when its release was marked': [
    'audit',
    [0, 0, 0],
    RECORDS,
    ['{ releasedBy: releaseId, markedIn: markedIn }', '{ releasedBy: releaseId }'],
  ],
}
