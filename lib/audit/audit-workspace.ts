import { ServiceError } from '../errors.ts'
import { deleteDocument } from '../promotion/delete-document.ts'
import type { WorkspaceId } from '../promotion/ids.ts'
import type { ObjectKeys } from '../promotion/object-keys.ts'
import type {
  DocumentObjectOverview,
  DocumentOverview,
  LedgerOverview,
  StoredDocumentObject,
  WorkspaceDocument,
} from '../promotion/ports.ts'
import { isExpired, resolveReservation } from '../promotion/resolve-reservation.ts'
import type { TakeBackDependencies } from '../promotion/take-back.ts'
import type { AuditReport, Finding } from './findings.ts'
import { joinSorted } from './join-sorted.ts'

export interface AuditDependencies extends TakeBackDependencies {
  documents: TakeBackDependencies['documents'] & DocumentOverview
  objects: TakeBackDependencies['objects'] & DocumentObjectOverview
  overview: LedgerOverview
  objectKeys: ObjectKeys
  leaseMs: number
  now(): number
}

export interface AuditOptions {
  /** Mends what is found, as far as that is safe. */
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
  await auditReservations(audit)
  await auditUploads(audit)
  await auditDocuments(audit)
  await auditUsage(audit)
}

async function auditReservations({ workspaceId, deps, signal, ...audit }: Audit): Promise<void> {
  const ledger = await deps.overview.read(workspaceId, signal)
  const expired = ledger?.reservations.filter((reservation) => isExpired(reservation, deps.now() - OVERDUE_MS)) ?? []
  for (const reservation of expired) {
    const { documentId, purpose, sizeBytes } = reservation
    const overdueMs = deps.now() - reservation.leaseExpiresAtMs
    await found({ workspaceId, kind: 'expired_reservation', documentId, purpose, sizeBytes, overdueMs }, audit, () =>
      resolveReservation(reservation, deps, signal),
    )
  }
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

async function auditDocuments(audit: Audit): Promise<void> {
  const { workspaceId, report, deps, signal } = audit
  const pairs = joinSorted(
    deps.documents.list(workspaceId, signal),
    deps.objects.listObjects(deps.objectKeys.workspacePrefix(workspaceId), signal),
    { left: (document) => document.objectKey, right: (object) => object.objectKey },
  )
  for await (const { left: document, right: object } of pairs) {
    if (document) {
      report.documents++
      report.documentBytes += document.sizeBytes
    }
    if (document && object) await auditSize(document, object, audit)
    else if (document) await auditLostDocument(document, audit)
    else if (object) await auditLooseObject(object, audit)
  }
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
  const ledger = await deps.overview.read(workspaceId, signal)
  const isBeingDeleted = ledger?.reservations.some(
    (open) => open.documentId === documentId && open.purpose === 'deletion',
  )
  const current = await deps.documents.find(workspaceId, documentId, signal)
  if (isBeingDeleted || current?.objectKey !== objectKey || (await deps.objects.hasObject(objectKey, signal))) return
  const finding = { workspaceId, kind: 'document_without_object', documentId, objectKey, sizeBytes } as const
  const repair = () =>
    deleteDocument({ workspaceId, documentId, objectKey }, deps, signal).catch((error) => {
      if (error instanceof ServiceError && error.reason === 'promotion_in_progress') return false
      throw error
    })
  await found(finding, audit, audit.options.deleteLostDocuments ? repair : undefined)
}

async function auditLooseObject(
  { objectKey, sizeBytes }: StoredDocumentObject,
  { deps, signal, ...audit }: Audit,
): Promise<void> {
  const { workspaceId } = audit
  const documentId = deps.objectKeys.documentIdOf(objectKey)
  // The reservation first: an attempt that has none any more has recorded its document, or never will.
  const ledger = await deps.overview.read(workspaceId, signal)
  if (ledger?.reservations.some((open) => open.objectKey === objectKey)) return
  const document = documentId && (await deps.documents.find(workspaceId, documentId, signal))
  if (document?.objectKey === objectKey || !(await deps.objects.hasObject(objectKey, signal))) return
  // What is not named as we name objects is not ours to remove.
  const repair = documentId && (() => deps.objects.discard(objectKey, signal))
  await found({ workspaceId, kind: 'object_without_document', objectKey, sizeBytes }, audit, repair)
}

/** Adds the documents up again, until nothing changes meanwhile, and compares the sum with what is counted. */
async function auditUsage({ workspaceId, deps, signal, ...audit }: Audit): Promise<void> {
  for (let tries = 0; tries < MAX_ADDING_UP; tries++) {
    const before = await deps.overview.read(workspaceId, signal)
    // A document and its own open reservation are the same bytes: counted once. (Not so another attempt's at the document.)
    const open = new Map(before?.reservations.map((reservation) => [reservation.objectKey, reservation]))
    let expectedBytes = 0
    for await (const { objectKey, sizeBytes } of deps.documents.list(workspaceId, signal)) {
      expectedBytes += sizeBytes
      open.delete(objectKey)
    }
    for (const reservation of open.values()) {
      // A deletion that came second holds no bytes: the first one gives them back, or has done so.
      const isCounted = reservation.purpose !== 'deletion' || (await deps.documents.isRetiredBy(reservation, signal))
      if (isCounted) expectedBytes += reservation.sizeBytes
    }
    const after = await deps.overview.read(workspaceId, signal)
    if (before?.version !== after?.version) continue
    const usedBytes = after?.usedBytes ?? 0
    if (usedBytes === expectedBytes) return
    await found({ workspaceId, kind: 'drift', usedBytes, expectedBytes }, audit, () =>
      deps.overview.correct(workspaceId, { usedBytes: expectedBytes, version: after?.version }, signal),
    )
    return
  }
  await found({ workspaceId, kind: 'not_added_up' }, audit, undefined)
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
