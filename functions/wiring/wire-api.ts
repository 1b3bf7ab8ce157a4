import { createApiKeyStore } from '../../lib/aws/api-key-store.ts'
import { createDynamoDbClient, createS3Client } from '../../lib/aws/clients.ts'
import { createRateLimiter } from '../../lib/aws/rate-limiter.ts'
import { readConfig } from '../../lib/config.ts'
import type { ApiDependencies } from '../../lib/http/api-handler.ts'
import { createLog } from '../../lib/logging.ts'
import { createMetrics } from '../../lib/metrics.ts'
import { createObjectKeys } from '../../lib/object-keys.ts'

/** Shared by all functions behind the gateway. The clients name the function in their user agent. */
export function wireApi(functionName: string) {
  const config = readConfig(process.env)
  const now = Date.now
  const dynamoDb = createDynamoDbClient({ userAgentAppId: functionName })
  const s3 = createS3Client({ userAgentAppId: functionName, forcePathStyle: config.s3ForcePathStyle })
  const log = createLog({ ...config, functionName })
  const api: ApiDependencies = {
    apiKeys: createApiKeyStore({ client: dynamoDb, tableName: config.keysTable }),
    rateLimiter: createRateLimiter({
      client: dynamoDb,
      tableName: config.rateLimitsTable,
      policy: config.rateLimit,
      now,
    }),
    now,
    log,
    metrics: createMetrics(config.serviceName),
    corsAllowedOrigins: config.corsAllowedOrigins,
  }
  return {
    config,
    api,
    objectKeys: createObjectKeys(config.keyTemplates),
    documentsTable: { client: dynamoDb, tableName: config.documentsTable, now },
    workspacesTable: { ...config, client: dynamoDb, tableName: config.workspacesTable, now },
    reservationsTable: { client: dynamoDb, tableName: config.reservationsTable },
    buckets: {
      ...config,
      client: s3,
      lifetimeSeconds: config.downloadUrlSeconds,
      // npm run admin -- smoke looks for it.
      onRefusedMissingKey: () => log.info('S3 answered 403 for a missing key, so the listing was used instead'),
    },
  }
}
