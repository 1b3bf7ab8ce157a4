import { createApiKeyStore } from '../lib/aws/api-key-store.ts'
import { createDynamoDbClient, createS3Client } from '../lib/aws/clients.ts'
import { createDocumentRecords } from '../lib/aws/document-records.ts'
import { createLedgerOverview } from '../lib/aws/ledger-overview.ts'
import { createObjectStore } from '../lib/aws/object-store.ts'
import { createQuotaLedger } from '../lib/aws/quota-ledger.ts'
import { createRateLimiter } from '../lib/aws/rate-limiter.ts'
import { createReservations } from '../lib/aws/reservations.ts'
import { readConfig } from '../lib/config.ts'
import { createPromoteContainerFileHandler } from '../lib/http/promote-container-file.ts'
import { createLog } from '../lib/logging.ts'
import { createMetrics } from '../lib/metrics.ts'
import { createAdmission } from '../lib/promotion/admission.ts'
import { createObjectKeys } from '../lib/promotion/object-keys.ts'

const FUNCTION_NAME = 'promote-container-file'

const config = readConfig(process.env)
const now = Date.now
const client = createDynamoDbClient({ userAgentAppId: FUNCTION_NAME })

export const handler = createPromoteContainerFileHandler({
  apiKeys: createApiKeyStore({ client, tableName: config.keysTable }),
  rateLimiter: createRateLimiter({ client, tableName: config.rateLimitsTable, policy: config.rateLimit, now }),
  ledger: createQuotaLedger({ ...config, client, tableName: config.workspacesTable, now }),
  reservations: createReservations({ client, tableName: config.reservationsTable }),
  documents: createDocumentRecords({ client, tableName: config.documentsTable, now }),
  objects: createObjectStore({
    ...config,
    client: createS3Client({ userAgentAppId: FUNCTION_NAME, forcePathStyle: config.s3ForcePathStyle }),
  }),
  overview: createLedgerOverview({ ...config, client, tableName: config.workspacesTable }),
  admission: createAdmission({ now }),
  objectKeys: createObjectKeys(config.keyTemplates),
  maxFileBytes: config.maxFileBytes,
  leaseMs: config.leaseMs,
  corsAllowedOrigins: config.corsAllowedOrigins,
  now,
  log: createLog({ ...config, functionName: FUNCTION_NAME }),
  metrics: createMetrics(config.serviceName),
})
