import { createDynamoDbClient, createS3Client } from '../../lib/aws/clients.ts'
import { createWorkspaceStores } from '../../lib/aws/workspace-stores.ts'
import { readConfig } from '../../lib/config.ts'
import { createLog } from '../../lib/logging.ts'
import { createMetrics } from '../../lib/metrics.ts'

/** Shared by the functions that no request invokes. The clients name the function in their user agent. */
export function wireMaintenance(functionName: string) {
  const config = readConfig(process.env)
  const clients = {
    dynamoDb: createDynamoDbClient({ userAgentAppId: functionName }),
    s3: createS3Client({ userAgentAppId: functionName, forcePathStyle: config.s3ForcePathStyle }),
  }
  const log = createLog({ ...config, functionName })
  return {
    config,
    clients,
    log,
    metrics: createMetrics(config.serviceName),
    dependencies: { ...createWorkspaceStores({ config, ...clients, now: Date.now }), log },
  }
}
