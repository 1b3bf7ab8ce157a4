import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { S3Client } from '@aws-sdk/client-s3'
import { createApiKeyAdministration } from '../../../lib/aws/dynamodb/api-key-administration.ts'
import { createApiKeyStore } from '../../../lib/aws/dynamodb/api-key-store.ts'
import { createDocumentListing } from '../../../lib/aws/dynamodb/document-listing.ts'
import { createRateLimiter } from '../../../lib/aws/dynamodb/rate-limiter.ts'
import { createContainerFiles } from '../../../lib/aws/s3/container-files.ts'
import { createDocumentObjects } from '../../../lib/aws/s3/document-objects.ts'
import { createDownloadSigner } from '../../../lib/aws/s3/download-signer.ts'
import { createWorkspaceStores } from '../../../lib/aws/workspace-stores.ts'
import type { Config } from '../../../lib/config.ts'
import type { Log } from '../../../lib/logging.ts'
import type { Metrics } from '../../../lib/metrics.ts'
import { createAdmission } from '../../../lib/promotion/admission.ts'
import { createHandlers } from '../api/operations.ts'

/** All functions as functions/ composes them, on the given two clients and clock. */
export function composeFunctions({
  config,
  dynamoDb: client,
  s3,
  now,
  log,
  metrics,
}: {
  config: Config
  dynamoDb: DynamoDBClient
  s3: S3Client
  now(): number
  log: Log
  metrics: Metrics
}) {
  const buckets = { ...config, client: s3 }
  const documents = { client, tableName: config.documentsTable, now }
  const stores = createWorkspaceStores({ config, dynamoDb: client, s3, now })
  const keysTable = { client, tableName: config.keysTable }
  const deps = {
    ...config,
    ...stores,
    apiKeys: createApiKeyStore(keysTable),
    administration: { ...config, ...stores, apiKeys: createApiKeyAdministration(keysTable) },
    rateLimiter: createRateLimiter({ client, tableName: config.rateLimitsTable, policy: config.rateLimit, now }),
    admission: createAdmission({ now }),
    listing: createDocumentListing(documents),
    documentObjects: createDocumentObjects(buckets),
    downloads: createDownloadSigner(buckets),
    containerFiles: createContainerFiles(buckets),
    log,
    metrics,
  }
  return { deps, handlers: createHandlers(deps) }
}
