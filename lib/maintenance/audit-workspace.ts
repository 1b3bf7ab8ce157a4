import { UnreadableItemError } from '../errors.ts'
import type { DocumentId, WorkspaceId } from '../ids.ts'
import { deleteDocument } from '../promotion/delete-document.ts'
import type { OpenReservation, WorkspaceDocument, WorkspaceLedger } from '../promotion/ports.ts'
import { type ResolverDependencies, resolveWorkspace } from '../promotion/resolve-workspace.ts'
import type { AuditReport, Finding } from './findings.ts'
import { joinSorted } from './join-sorted.ts'
import type { DocumentMaintenance, LedgerMaintenance, ObjectMaintenance, StoredDocumentObject } from './ports.ts'

export interface AuditDependencies extends ResolverDependencies {
  ledgers: LedgerMaintenance
  documents: ResolverDependencies['documents'] & DocumentMaintenance
  objects: ResolverDependencies['objects'] & ObjectMaintenance
}

export interface AuditOptions {
  /** Repairs what is found, as far as that is safe. */
  repair: boolean
  /**
   * With repair: deletes the records of documents whose object is gone. Not without being told: they may be all that is left
   * to restore the bytes by, and a wrong bucket makes every document look lost.
   */
  deleteLostDocuments: boolean
  /** Called with each finding as it is made: there may be more than memory holds. */
  onFinding(finding: Finding): void
}

interface Audit {
  workspaceId: WorkspaceId
  options: AuditOptions
  report: AuditReport
  deps: AuditDependencies
  signal: AbortSignal
}

/** Uploads of a live promotion are minutes old; these are nobody's. */
const OLD_UPLOAD_MS = 60 * 60 * 1000
const MAX_ADDING_UP = 3
/** Until then a reservation is the resolver's: the audit may run on a machine whose clock is wrong. */
const OVERDUE_MS = 10 * 60 * 1000

/**
 * Compares a workspace's ledger, documents and objects while the service runs. What looks wrong in a listing is looked at
 * again, fresh, before it is called a finding: a promotion or deletion under way is none. Listings are streamed.
 *
 * @param report added to
 */
export async function auditWorkspace(
  workspaceId: WorkspaceId,
  options: AuditOptions,
  report: AuditReport,
  deps: AuditDependencies,
  signal: AbortSignal,
): Promise<void> {
  const audit: Audit = { workspaceId, options, report, deps, signal }
  report.workspaces++
  await auditLeftovers(audit)
  await auditUploads(audit)
  const isReadable = await auditDocuments(audit)
  if (isReadable) await auditUsage(audit)
}

async function auditLeftovers({ workspaceId, deps, signal, ...audit }: Audit): Promise<void> {
  const ledger = await deps.ledgers.read(workspaceId, signal)
  const reservations = await readReservations({ workspaceId, deps, signal, ...audit })
  const all = [
    ...(ledger?.takings.map((taking) => ({ ...taking, purpose: 'taking' as const })) ?? []),
    ...(ledger?.releases ?? []),
    ...reservations,
  ]
  const overdue = all.filter(({ leaseExpiresAtMs }) => leaseExpiresAtMs <= deps.now() - OVERDUE_MS)
  let isResolved: Promise<boolean> | undefined
  const resolve = () => {
    // All at once, and once: they hang together.
    isResolved ??= resolveWorkspace(workspaceId, { maxResolutions: Number.POSITIVE_INFINITY }, deps, signal).then(
      // Without a ledger, nothing can be given back: first it is made (auditUsage).
      ({ failed }) => failed === 0 && ledger !== undefined,
    )
    return isResolved
  }
  for (const { attemptId, purpose, sizeBytes, leaseExpiresAtMs } of overdue) {
    const overdueMs = deps.now() - leaseExpiresAtMs
    await found({ workspaceId, kind: 'expired_reservation', attemptId, purpose, sizeBytes, overdueMs }, audit, resolve)
  }
}

async function readReservations({ workspaceId, deps, signal }: Audit): Promise<OpenReservation[]> {
  const all: OpenReservation[] = []
  for await (const reservation of deps.reservations.list(workspaceId, signal)) all.push(reservation)
  return all
}

async function auditUploads({ workspaceId, deps, signal, ...audit }: Audit): Promise<void> {
  for await (const { objectKey, startedAtMs } of deps.objects.listUploads(
    deps.objectKeys.workspacePrefix(workspaceId),
    signal,
  )) {
    const ageMs = deps.now() - startedAtMs
    if (ageMs < OLD_UPLOAD_MS) continue
    // Only the upload: the object of the same key may be a document's.
    await found({ workspaceId, kind: 'old_upload', objectKey, ageMs }, audit, () =>
      deps.objects.abortUploads(objectKey, signal),
    )
  }
}

/** @returns whether all documents could be read */
async function auditDocuments(audit: Audit): Promise<boolean> {
  const { workspaceId, options, report, deps, signal } = audit
  let isReadable = true
  const onUnreadable = ({ message }: Error) => {
    isReadable = false
    report.findings++
    options.onFinding({ workspaceId, kind: 'unreadable_item', message, isRepaired: false })
  }
  const pairs = joinSorted(
    deps.documents.list(workspaceId, signal, onUnreadable),
    deps.objects.listObjects(deps.objectKeys.workspacePrefix(workspaceId), signal),
    { left: (document) => document.objectKey, right: (object) => object.objectKey },
  )
  for await (const { left: document, right: object } of pairs) {
    if (document) {
      report.documents++
      report.documentBytes += document.sizeBytes
    }
    if (document?.isUnlisted) await auditUnlisted(document, audit)
    if (document && object) await auditSize(document, object, audit)
    else if (document) await auditLostDocument(document, audit)
    else if (object) await auditLooseObject(object, audit)
  }
  return isReadable
}

async function auditUnlisted(document: WorkspaceDocument, { deps, signal, ...audit }: Audit): Promise<void> {
  const { workspaceId, documentId } = document
  await found({ workspaceId, kind: 'unlisted_document', documentId }, audit, () =>
    deps.documents.enlist(document, signal),
  )
}

async function auditSize(
  document: WorkspaceDocument,
  object: StoredDocumentObject,
  { options, report }: Audit,
): Promise<void> {
  if (document.sizeBytes === object.sizeBytes) return
  const { workspaceId, documentId, objectKey, sizeBytes } = document
  const finding = {
    workspaceId,
    kind: 'wrong_size',
    documentId,
    objectKey,
    sizeBytes,
    objectBytes: object.sizeBytes,
  } as const
  await found(finding, { options, report }, undefined)
}

async function auditLostDocument(document: WorkspaceDocument, { deps, signal, ...audit }: Audit): Promise<void> {
  const { workspaceId, documentId, objectKey, sizeBytes } = document
  const ledger = await deps.ledgers.read(workspaceId, signal)
  const isBeingDeleted = ledger?.releases.some(
    (release) => release.documentId === documentId && release.purpose === 'deletion',
  )
  const current = await deps.documents.find(workspaceId, documentId, signal)
  if (isBeingDeleted || current?.objectKey !== objectKey || (await deps.objects.hasObject(objectKey, signal))) return
  const finding = { workspaceId, kind: 'document_without_object', documentId, objectKey, sizeBytes } as const
  const repair = () => deleteDocument({ workspaceId, documentId, objectKey }, deps, signal)
  await found(finding, audit, audit.options.deleteLostDocuments ? repair : undefined)
}

async function auditLooseObject({ objectKey, sizeBytes }: StoredDocumentObject, audit: Audit): Promise<void> {
  const { workspaceId, deps, signal } = audit
  const ids = deps.objectKeys.idsOf(objectKey)
  // In the order in which an attempt goes from one to the next: none that is under way is missed.
  const ledger = await deps.ledgers.read(workspaceId, signal)
  const markers = [...(ledger?.takings ?? []), ...(ledger?.releases ?? [])]
  if (ids && markers.some(({ attemptId }) => attemptId === ids.attemptId)) return
  if ((await readReservations(audit)).some((open) => open.objectKey === objectKey)) return
  const isDocuments = ids && (await isObjectOf(ids.documentId, objectKey, audit))
  if (isDocuments || !(await deps.objects.hasObject(objectKey, signal))) return
  // What is not named as we name objects is not ours to remove.
  const repair = ids && (() => deps.objects.discard(objectKey, signal))
  await found({ workspaceId, kind: 'object_without_document', objectKey, sizeBytes }, audit, repair)
}

/** Of a document that cannot be read, too, as far as anybody knows: that was reported when the documents were listed. */
async function isObjectOf(
  documentId: DocumentId,
  objectKey: string,
  { workspaceId, deps, signal }: Audit,
): Promise<boolean> {
  try {
    return (await deps.documents.find(workspaceId, documentId, signal))?.objectKey === objectKey
  } catch (error) {
    if (error instanceof UnreadableItemError) return true
    throw error
  }
}

/** Adds the documents up again, until nothing changes meanwhile, and compares the sum with what is counted. */
async function auditUsage(audit: Audit): Promise<void> {
  const { workspaceId, deps, signal } = audit
  for (let tries = 0; tries < MAX_ADDING_UP; tries++) {
    const before = await deps.ledgers.read(workspaceId, signal)
    const expectedBytes = await addUp(before, audit)
    const after = await deps.ledgers.read(workspaceId, signal)
    if (before?.version !== after?.version) continue
    const usedBytes = after?.usedBytes ?? 0
    if (usedBytes === expectedBytes) return
    await found({ workspaceId, kind: 'drift', usedBytes, expectedBytes }, audit, () =>
      deps.ledgers.correct(workspaceId, { usedBytes: expectedBytes, version: after?.version }, signal),
    )
    return
  }
  await found({ workspaceId, kind: 'not_added_up' }, audit, undefined)
}

/**
 * The bytes of all attempts that hold some, each once (docs/reliability.md, "Who holds the bytes"). Reservations are read
 * before documents: an attempt goes from one to the other without a change of the ledger.
 */
async function addUp(ledger: WorkspaceLedger | undefined, audit: Audit): Promise<number> {
  const { workspaceId, deps, signal } = audit
  const { takings = [], releases = [] } = ledger ?? {}
  const held = new Map(takings.map(({ attemptId, sizeBytes }) => [attemptId, sizeBytes]))
  for (const { attemptId, sizeBytes, closedBy } of await readReservations(audit)) {
    const isReleased = closedBy && !releases.some(({ releaseId }) => releaseId === closedBy)
    if (!isReleased && sizeBytes > 0) held.set(attemptId, sizeBytes)
  }
  let documentBytes = 0
  const recorded = new Set<string>()
  for await (const { attemptId, sizeBytes } of deps.documents.list(workspaceId, signal)) {
    documentBytes += sizeBytes
    held.delete(attemptId)
    recorded.add(attemptId)
  }
  for (const release of releases) {
    const mayHold = release.purpose === 'deletion' && !recorded.has(release.attemptId)
    if (mayHold && (await deps.documents.isRetiredBy(release, signal))) held.set(release.attemptId, release.sizeBytes)
  }
  return [...held.values()].reduce((sum, sizeBytes) => sum + sizeBytes, documentBytes)
}

type FoundContext = Pick<Audit, 'options' | 'report'>
type WithoutRepair<Type> = Type extends unknown ? Omit<Type, 'isRepaired'> : never

/** @param repair resolves to false when it could not be done now */
async function found(
  finding: WithoutRepair<Finding>,
  { options, report }: FoundContext,
  repair: (() => Promise<unknown>) | undefined,
): Promise<void> {
  const isRepaired = options.repair && repair !== undefined && (await repair()) !== false
  report.findings++
  if (isRepaired) report.repaired++
  options.onFinding({ ...finding, isRepaired } as Finding)
}
