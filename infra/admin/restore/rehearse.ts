import {
  DeleteTableCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  waitUntilTableNotExists,
} from '@aws-sdk/client-dynamodb'
import type { Environment } from '../../../lib/config.ts'
import { audit } from '../../../lib/maintenance/audit.ts'
import type { Finding } from '../../../lib/maintenance/findings.ts'
import { clearingUp } from '../clearing-up.ts'
import { connect } from '../connect.ts'
import { describeFailure } from '../describe-failure.ts'
import { LEDGER, RESTORABLE, tableOf, targetOf } from './restorable.ts'
import { momentOf, type RestoredTable, restoreTable } from './restore-tables.ts'

export interface Rehearsal {
  momentMs: number
  tables: RestoredTable[]
  workspaces: number
  documents: number
  findings: number
  /** Restored tables that could not be removed again, one line each. */
  left: string[]
}

interface RehearsalOptions {
  env: Environment
  askedForMs: number | undefined
  client: DynamoDBClient
  onProgress(text: string): void
  /** What the audit finds in the restored tables, beside the objects as they are now. */
  onFinding(finding: Finding): void
  signal: AbortSignal
}

const CLEARING_TIMEOUT_MS = 15 * 60_000

/**
 * Restores ledger, reservations and documents into new tables, audits them, and removes them again.
 * @throws CommandError naming what is left, when it failed and could not remove everything
 */
export async function rehearse(options: RehearsalOptions): Promise<Rehearsal> {
  const { env, askedForMs, client, onProgress, signal } = options
  const sources = LEDGER.map((which) => tableOf(which, env))
  const momentMs = await momentOf(sources, askedForMs, client, signal)
  const targets = sources.map((source) => targetOf(source, momentMs, 'rehearsal'))
  const clear = () => {
    onProgress('removing the restored tables')
    return removeAll(targets, client)
  }
  return clearingUp(() => restoreAndAudit({ ...options, momentMs, targets }), clear)
}

async function restoreAndAudit({
  env,
  client,
  momentMs,
  targets,
  signal,
  ...told
}: RehearsalOptions & { momentMs: number; targets: string[] }): Promise<Omit<Rehearsal, 'left'>> {
  const restored: Record<string, string | undefined> = { ...env }
  told.onProgress(`restoring ${targets.length} tables`)
  const restores = LEDGER.map((which, index) => {
    const target = targets[index] ?? ''
    restored[RESTORABLE[which].variable] = target
    return restoreTable({ source: tableOf(which, env), target, momentMs }, client, signal)
  })
  // All end before any is removed.
  await Promise.allSettled(restores)
  const tables = await Promise.all(restores)
  told.onProgress('auditing the restored tables')
  const look = { repair: false, deleteLostDocuments: false, onFinding: told.onFinding }
  const { workspaces, documents, findings } = await audit(look, connect(restored), signal)
  signal.throwIfAborted()
  return { momentMs, tables, workspaces, documents, findings }
}

async function removeAll(targets: string[], client: DynamoDBClient): Promise<string[]> {
  const abortSignal = AbortSignal.timeout(CLEARING_TIMEOUT_MS)
  const left: string[] = []
  for (const TableName of targets) {
    try {
      await client.send(new DeleteTableCommand({ TableName }), { abortSignal })
      await waitUntilTableNotExists({ client, maxWaitTime: CLEARING_TIMEOUT_MS / 1000, abortSignal }, { TableName })
    } catch (error) {
      if (error instanceof ResourceNotFoundException) continue
      left.push(`table ${TableName} (${describeFailure(error).message})`)
    }
  }
  return left
}
