import type { PlantedBugs } from './plant.ts'

const PROMOTION = 'lib/promotion/attempt-promotion.ts'
const UNDO = 'lib/promotion/undo-promotion.ts'
const CLAIM = 'lib/promotion/claim-document.ts'
const END = 'lib/ledger/end-attempt.ts'
const RELEASE = 'lib/ledger/release-bytes.ts'
const DELETION = 'lib/ledger/delete-document.ts'

const FENCE = "if ((await deps.documents.fence(attempt, signal)) === 'recorded') return 'recorded'"
const NOTE = "if (mayCopyArrive) await deps.reservations.note('late_copy', lateCopyOf(attempt, deps), signal)"
const NOTE_DELETION = "await deps.reservations.note('deletion', deletion, signal)"
const SCHEDULE = 'await deps.quota.schedule(deletion, signal)'
const FIND_RESERVATION = 'const reservation = await deps.reservations.find(document, signal)'
const FIND_DOCUMENT = 'const document = await deps.documents.findEvenDeleted(workspaceId, documentId, signal)'
const COMPLETE = 'return completeRelease(await mark(bytes, deps, signal), deps, signal)'

/** The ledger is marked while S3 is called. */
const markBeforeDiscard = (purpose: string): [string, string][] => [
  [
    '{ workspaceId, documentId, attemptId, sizeBytes }: BytesOfAttempt',
    '{ workspaceId, documentId, attemptId, sizeBytes, objectKey }',
  ],
  [
    COMPLETE,
    `const marked = await mark(bytes, deps, signal)
     if (purpose === '${purpose}') await deps.objects.discard(objectKey, signal)
     return completeRelease(marked, deps, signal)`,
  ],
]
const handOverBeforeMark = (purpose: string, store: string): [string, string] => [
  'const marked = await deps.quota.mark(',
  `if (bytes.purpose === '${purpose}') await deps.${store}.handOver({ ...release, markedIn: 1 }, signal)
   const marked = await deps.quota.mark(`,
]

/** Steps of promotions and deletions left out, or taken in another order. */
export const PLANTED_STEPS: PlantedBugs = {
  'a promotion: records its document before the copy is answered': [
    'plain',
    [0, 0, 0],
    PROMOTION,
    [
      'await reserveAndCopy({ file, document, attempt: counted, progress }, request, deps)\n    await record(document, request, deps)',
      'await Promise.all([reserveAndCopy({ file, document, attempt: counted, progress }, request, deps), record(document, request, deps)])',
    ],
  ],
  'a promotion with a key: records its document again after it was deleted': [
    'again',
    [0, 1, 0],
    'lib/promotion/idempotency.ts',
    ["throw new ServiceError('idempotency_key_spent')", 'return undefined'],
    ['test/support/fakes/document-records.ts', 'documents.has(key) || tombstone?.document', 'documents.has(key)'],
  ],
  'an undo: gives bytes back although the reservation may still arrive': [
    'alone',
    [0, 1, 0],
    UNDO,
    ["if (progress.reservation === 'unknown') throw", "if (progress.reservation === 'never') throw"],
  ],
  'an undo: nobody notes a copy that was not answered': [
    'plain',
    [0, 1, 0],
    UNDO,
    ["progress.copy === 'unanswered'", 'false'],
  ],
  'an undo: does not fence': ['plain', [0, 1, 0], END, [FENCE, '']],
  'an undo: goes on when the fence has failed': [
    'alone',
    [0, 2, 0, 'fail_before', 'fail_after'],
    END,
    [
      'await deps.documents.fence(attempt, signal)',
      "await deps.documents.fence(attempt, signal).catch(() => 'fenced')",
    ],
  ],
  'an undo: gives bytes back before the reservation is handed over': [
    'plain',
    [0, 1, 0],
    RELEASE,
    [
      'const releasedBy =',
      "if (release.purpose === 'undo') await quota.release(release, signal)\n  const releasedBy =",
    ],
  ],
  'an undo: hands the reservation over before the ledger is marked': [
    'plain',
    [0, 1, 0],
    RELEASE,
    handOverBeforeMark('undo', 'reservations'),
  ],
  'an undo: hands the reservation over before its taking is gone': [
    'alone',
    [0, 2, 0],
    END,
    ['await deps.quota.unmark(attempt, signal)', ''],
  ],
  'an undo: marks the ledger before the object is discarded': [
    'plain',
    [0, 1, 0],
    RELEASE,
    ...markBeforeDiscard('undo'),
  ],
  'an undo: goes on with its own release although another has the reservation': [
    'wrongPlain',
    [1, 0, 1],
    RELEASE,
    ['if (releasedBy !== release.releaseId) await quota.unmark(release, signal)', ''],
    ['{ ...release, releaseId: releasedBy }', 'release'],
  ],
  'a takeover: notes a late copy before it fences': [
    'twins',
    [0, 1, 0],
    END,
    [FENCE, `${NOTE}\n  ${FENCE}`],
    ['lib/ledger/leftovers.ts', "if ((await documents.fence(attempt, signal)) === 'recorded') return", ''],
  ],
  'a takeover: does not note the late copy of the dead': [
    'twins',
    [1, 1, 1, 'late'],
    CLAIM,
    ['{ mayCopyArrive: true }', '{ mayCopyArrive: false }'],
  ],
  'a takeover: takes a claim before its late copy is noted': [
    'twins',
    [0, 1, 1],
    CLAIM,
    ["await reservations.note('late_copy', lateCopyOf(other, deps), signal)", ''],
  ],
  'a deletion: looks for the reservation before the document': [
    'keyedDeletion',
    [2, 0, 0],
    DELETION,
    [FIND_RESERVATION, ''],
    [
      FIND_DOCUMENT,
      `const reservation = await deps.reservations.find({ workspaceId, documentId }, signal)\n  ${FIND_DOCUMENT}`,
    ],
  ],
  'a deletion: finishes its tombstone before the bytes are given back': [
    'audit',
    [0, 0, 0],
    RELEASE,
    [
      'const usage = await',
      "if (release.purpose === 'deletion') await documents.expire(release, signal)\n  const usage = await",
    ],
  ],
  'a deletion: notes itself after the document is deleted': [
    'deletion',
    [0, 1, 0],
    DELETION,
    [NOTE_DELETION, ''],
    [
      'const deleted = await documents.delete(deletion, signal)',
      "const deleted = await documents.delete(deletion, signal)\n  await reservations.note('deletion', deletion, signal)",
    ],
  ],
  'a deletion: makes the workspace due before it notes itself': [
    'deletion',
    [1, 1, 1, 'kill_after'],
    DELETION,
    [NOTE_DELETION, ''],
    [SCHEDULE, `${SCHEDULE}\n  ${NOTE_DELETION}`],
  ],
  'a deletion: marks the ledger before the object is discarded': [
    'deletions',
    [0, 0, 0],
    RELEASE,
    ...markBeforeDiscard('deletion'),
  ],
  'a deletion: hands the tombstone over before the ledger is marked': [
    'deletions',
    [0, 0, 0],
    RELEASE,
    handOverBeforeMark('deletion', 'documents'),
  ],
  'a deletion: the object stays': [
    'deletions',
    [0, 0, 0],
    DELETION,
    ['await objects.discard(deletion.objectKey, signal)', ''],
  ],
  'a deletion: does not settle what is recorded': [
    'wrongDeletion',
    [0, 1, 0],
    DELETION,
    ['await settle(reservation, deps, signal)', ''],
  ],
}
