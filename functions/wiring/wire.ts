import { createDynamoDbClient, createS3Client } from '../../lib/aws/clients.ts'
import { apiKeys, rateLimiter, type StoreSettings } from '../../lib/aws/stores.ts'
import { readConfig } from '../../lib/config.ts'
import { createLog } from '../../lib/logging.ts'
import { createMetrics } from '../../lib/metrics.ts'
import { createObjectKeys } from '../../lib/object-keys.ts'

/** For every function. The clients name it in their user agent. */
export function wire(functionName: string) {
  const config = readConfig(process.env)
  const log = createLog({ ...config, functionName })
  const stores: StoreSettings = {
    config,
    dynamoDb: createDynamoDbClient({ userAgentAppId: functionName }),
    s3: createS3Client({ userAgentAppId: functionName, forcePathStyle: config.s3ForcePathStyle }),
    now: Date.now,
    onRefusedMissingKey: () => log.info('S3 answered 403 for a missing key, so the listing was used instead'),
  }
  return { stores, log, metrics: createMetrics(config.serviceName), objectKeys: createObjectKeys(config.keyTemplates) }
}

/** Shared by the functions behind the gateway. `api` has every setting: an operation need only name what it reads. */
export function wireApi(functionName: string) {
  const { stores, log, metrics, objectKeys } = wire(functionName)
  const { config, now } = stores
  const api = { ...config, log, metrics, now, objectKeys, apiKeys: apiKeys(stores), rateLimiter: rateLimiter(stores) }
  return { api, stores }
}
