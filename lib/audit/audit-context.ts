import type { WorkspaceId } from '../ids.ts'
import type { LedgerDependencies } from '../ledger/dependencies.ts'
import type { LedgerMaintenance } from '../ledger/ports/ledger-maintenance.ts'
import type { ObjectKeys } from '../object-keys.ts'
import type { AuditCounters, Finding, FindingFact, NotAddedUpReason } from './findings.ts'
import type { DocumentMaintenance } from './ports/document-maintenance.ts'
import type { ObjectMaintenance } from './ports/object-maintenance.ts'

export interface AuditDependencies extends LedgerDependencies {
  workspaces: LedgerMaintenance
  documents: LedgerDependencies['documents'] & DocumentMaintenance
  objects: LedgerDependencies['objects'] & ObjectMaintenance
  objectKeys: ObjectKeys
}

export interface AuditOptions {
  /** Repairs findings, as far as that is safe. */
  repair: boolean
  /**
   * With repair: also deletes the records of documents whose objects are gone. Only on request: they may be all
   * that is left to restore the bytes from, and with a wrong bucket every document looks lost.
   */
  deleteLostDocuments: boolean
  /** Looks at each object whose document has a SHA-256: one more call for each of them. */
  comparesSha256?: boolean
  /** Called for each finding at once: there may be more than memory holds. */
  onFinding(finding: Finding): void
  /** Called for a workspace that could not be added up: whether it has drift is unknown. */
  onNotAddedUp?(workspace: { workspaceId: WorkspaceId; reason: NotAddedUpReason }): void
}

/** Shared by the parts of an audit; all of them count in its counters. */
export interface AuditContext {
  options: AuditOptions
  counters: AuditCounters
  deps: AuditDependencies
  signal: AbortSignal
}

export interface WorkspaceAudit extends AuditContext {
  workspaceId: WorkspaceId
}

/** @param repair resolves to false when it was not possible now; omitted: only people can repair it */
export async function reportFinding(
  fact: FindingFact,
  { options, counters }: Pick<AuditContext, 'options' | 'counters'>,
  repair?: (() => Promise<unknown>) | undefined,
): Promise<void> {
  const isRepaired = options.repair && repair !== undefined && (await repair()) !== false
  if (isRepaired) counters.repaired++
  counters.findings++
  options.onFinding({ ...fact, isRepaired })
}
