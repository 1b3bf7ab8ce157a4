import type { PlantedBugs } from './plant.ts'

const WORKSPACE = 'lib/audit/audit-workspace.ts'
const CUT = 'lib/audit/ledger-cut.ts'
const USAGE = 'lib/audit/audit-usage.ts'
const DOCUMENTS = 'lib/audit/audit-documents.ts'

const GIVEN_BACK = 'if (isClosed && markedIn <= version && !releasing.has(releasedBy)) return undefined'
const HAS_OBJECT = 'if (await deps.objects.hasObject(objectKey, signal)) return'
const HAS_DOCUMENT = 'if ((await deps.documents.find(workspaceId, documentId, signal))?.objectKey !== objectKey) return'

/** What an audit reads too early, in another order, or not at all. */
export const PLANTED_IN_AUDIT: PlantedBugs = {
  'the audit: reads documents before it has listed the reservations': [
    'promotionAudit',
    [2, 0, 0],
    WORKSPACE,
    [
      'await auditLeftovers(audit)',
      `const rows = []
       for await (const row of audit.deps.documents.listRows(audit.workspaceId, audit.signal)) rows.push(row)
       const listRows = { value: async function* () { yield* rows } }
       const documents = Object.create(audit.deps.documents, { listRows })
       Object.assign(audit, { deps: { ...audit.deps, documents } })`,
    ],
  ],
  'the audit: does not ask whether a reservation was undone while it listed them': [
    'promotionAudit',
    [2, 1, 0, 'fail_before'],
    CUT,
    ['if (before?.undone === after?.undone) return', 'return'],
  ],
  'the audit: takes a reservation for released that a release closed while it listed them': [
    'promotionAudit',
    [3, 1, 0, 'fail_before'],
    CUT,
    ['[...releases, ...(after?.releases ?? [])]', 'releases'],
  ],
  'the audit: takes every closed tombstone for one whose bytes were given back at the cut': [
    'deletionAudit',
    [1, 0, 0],
    USAGE,
    [GIVEN_BACK, 'if (isClosed) return undefined'],
  ],
  'the audit: counts a tombstone whose bytes were given back before the cut': [
    'deletionAudit',
    [0, 0, 0],
    USAGE,
    [GIVEN_BACK, ''],
  ],
  'the audit: counts what was taken after the cut': [
    'drift',
    [1, 0, 0],
    USAGE,
    ["if (countedFrom <= version) return 'bytesAtCut'", "return 'bytesAtCut'"],
  ],
  'the audit: looks for the object after the document': [
    'pages',
    [1, 0, 0],
    DOCUMENTS,
    [HAS_OBJECT, ''],
    [HAS_DOCUMENT, `${HAS_DOCUMENT}\n  ${HAS_OBJECT}`],
  ],
  'the audit: takes the object of a deletion under way for a loose one': [
    'recording',
    [2, 1, 0, 'kill_after'],
    DOCUMENTS,
    ["!('isDeleted' in document && document.isReleased)", "!('isDeleted' in document)"],
  ],
  'the audit: takes an object for a loose one without looking for it again': [
    'deletionAudit',
    [1, 0, 0],
    DOCUMENTS,
    ['isDocuments || !(await deps.objects.hasObject(objectKey, signal))', 'isDocuments'],
  ],
  'the audit: takes a deletion under way for a left one': [
    'deletionAudit',
    [1, 0, 0],
    DOCUMENTS,
    ['if (note && !isOverdue(note, audit)) return', ''],
  ],
  'the audit: takes an object for a loose one without looking for its reservation': [
    'promotionAudit',
    [1, 0, 0],
    DOCUMENTS,
    ['if ((await readReservations(audit)).some(isExpected)) return', ''],
  ],
}
