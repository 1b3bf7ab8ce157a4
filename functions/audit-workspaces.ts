import type { Context } from 'aws-lambda'
import { audit } from '../lib/audit/audit.ts'
import { type AuditReport, FINDING_KINDS, type FindingKind } from '../lib/audit/findings.ts'
import { createDynamoDbClient, createS3Client } from '../lib/aws/clients.ts'
import { createDocumentRecords } from '../lib/aws/document-records.ts'
import { createLedgerOverview } from '../lib/aws/ledger-overview.ts'
import { createObjectStore } from '../lib/aws/object-store.ts'
import { createQuotaLedger } from '../lib/aws/quota-ledger.ts'
import { createReservations } from '../lib/aws/reservations.ts'
import { readConfig } from '../lib/config.ts'
import { createLog } from '../lib/logging.ts'
import { createMetrics } from '../lib/metrics.ts'
import { createDeadline } from '../lib/promotion/deadline.ts'
import { createObjectKeys } from '../lib/promotion/object-keys.ts'

const FUNCTION_NAME = 'audit-workspaces'

const config = readConfig(process.env)
const now = Date.now
const client = createDynamoDbClient({ userAgentAppId: FUNCTION_NAME })
const ledgerSettings = { ...config, client, tableName: config.workspacesTable, now }
const log = createLog({ ...config, functionName: FUNCTION_NAME })
const metrics = createMetrics(config.serviceName)
const dependencies = {
  overview: createLedgerOverview(ledgerSettings),
  ledger: createQuotaLedger(ledgerSettings),
  reservations: createReservations({ client, tableName: config.reservationsTable }),
  documents: createDocumentRecords({ client, tableName: config.documentsTable, now }),
  objects: createObjectStore({
    ...config,
    client: createS3Client({ userAgentAppId: FUNCTION_NAME, forcePathStyle: config.s3ForcePathStyle }),
  }),
  objectKeys: createObjectKeys(config.keyTemplates),
  leaseMs: config.leaseMs,
  now,
  log,
}

/** Invoked by the schedule of serverless.yml; the event says nothing. Repairs nothing: its role can only read. */
export async function handler(_event: unknown, context: Context): Promise<AuditReport> {
  const { signal } = createDeadline(() => context.getRemainingTimeInMillis())
  const found = new Map<FindingKind, number>(FINDING_KINDS.map((kind) => [kind, 0]))
  const report = await audit(
    {
      repair: false,
      deleteLostDocuments: false,
      onFinding({ kind, workspaceId, ...finding }) {
        found.set(kind, (found.get(kind) ?? 0) + 1)
        log.warn('audit finding', { kind, workspace_id: workspaceId, finding })
      },
    },
    dependencies,
    signal,
  )
  // Zeros, too: they let an alarm end.
  for (const [kind, count] of found) metrics.publish({ AuditFindings: count }, { kind })
  metrics.publish({ AuditsIncomplete: report.isComplete ? 0 : 1, ItemsUnreadable: found.get('unreadable_item') ?? 0 })
  log.info('workspaces audited', { ...report })
  return report
}
