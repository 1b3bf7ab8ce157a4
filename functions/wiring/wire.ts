import { createDynamoDbClient, createS3Client } from '../../lib/aws/clients.ts'
import { createApiKeyStore } from '../../lib/aws/dynamodb/api-key-store.ts'
import { createRateLimiter } from '../../lib/aws/dynamodb/rate-limiter.ts'
import { readConfig } from '../../lib/config.ts'
import { createLog } from '../../lib/logging.ts'
import { createMetrics } from '../../lib/metrics.ts'
import { createObjectKeys } from '../../lib/object-keys.ts'

/** For every function. The clients name it in their user agent. */
export function wire(functionName: string) {
  const config = readConfig(process.env)
  const clients = {
    dynamoDb: createDynamoDbClient({ userAgentAppId: functionName }),
    s3: createS3Client({ userAgentAppId: functionName, forcePathStyle: config.s3ForcePathStyle }),
  }
  const log = createLog({ ...config, functionName })
  return { config, clients, log, metrics: createMetrics(config.serviceName), now: Date.now }
}

/** Shared by the functions behind the gateway. `api` has every setting: an operation need only name what it reads. */
export function wireApi(functionName: string) {
  const { config, clients, log, metrics, now } = wire(functionName)
  const client = clients.dynamoDb
  const keysTable = { client, tableName: config.keysTable }
  return {
    api: {
      ...config,
      apiKeys: createApiKeyStore(keysTable),
      rateLimiter: createRateLimiter({ client, tableName: config.rateLimitsTable, policy: config.rateLimit, now }),
      objectKeys: createObjectKeys(config.keyTemplates),
      log,
      metrics,
      now,
    },
    keysTable,
    documentsTable: { ...config, client, tableName: config.documentsTable, now },
    workspacesTable: { ...config, client, tableName: config.workspacesTable, now },
    buckets: {
      ...config,
      client: clients.s3,
      onRefusedMissingKey: () => log.info('S3 answered 403 for a missing key, so the listing was used instead'),
    },
  }
}
