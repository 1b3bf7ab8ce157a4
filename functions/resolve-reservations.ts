import type { Context } from 'aws-lambda'
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
import { type ResolverReport, resolveExpiredReservations } from '../lib/promotion/resolve-expired-reservations.ts'

const BOUNDS = { maxResolutions: 1000, timeoutEachMs: 10_000 }

const FUNCTION_NAME = 'resolve-reservations'

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

/** Invoked by the schedule of serverless.yml; the event says nothing. */
export async function handler(_event: unknown, context: Context): Promise<ResolverReport> {
  const { signal } = createDeadline(() => context.getRemainingTimeInMillis())
  const report = await resolveExpiredReservations(BOUNDS, dependencies, signal)
  metrics.publish({
    ReservationsResolved: report.settled + report.released,
    ReservationsUnresolved: report.failed,
    OldestReservation: report.oldestMs,
    ItemsUnreadable: report.unreadable,
  })
  log.info('reservations looked through', { ...report })
  return report
}
