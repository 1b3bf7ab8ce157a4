import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { S3Client } from '@aws-sdk/client-s3'
import { createApiKeyStore } from '../../../lib/aws/api-key-store.ts'
import { createContainerFiles } from '../../../lib/aws/container-files.ts'
import { createDocumentListing } from '../../../lib/aws/document-listing.ts'
import { createDocumentObjects } from '../../../lib/aws/document-objects.ts'
import { createDownloadSigner } from '../../../lib/aws/download-signer.ts'
import { createRateLimiter } from '../../../lib/aws/rate-limiter.ts'
import { createWorkspaceStores } from '../../../lib/aws/workspace-stores.ts'
import type { Config } from '../../../lib/config.ts'
import { createDeleteDocumentHandler } from '../../../lib/http/delete-document.ts'
import { createPromoteContainerFileHandler } from '../../../lib/http/promote-container-file.ts'
import { createReadContainerFilesHandler } from '../../../lib/http/read-container-files.ts'
import { createReadDocumentsHandler } from '../../../lib/http/read-documents.ts'
import type { Log } from '../../../lib/logging.ts'
import type { Metrics } from '../../../lib/metrics.ts'
import { createAdmission } from '../../../lib/promotion/admission.ts'

export type FunctionId = keyof ReturnType<typeof composeFunctions>['handlers']

/** All functions as functions/ composes them, on two clients and a clock that are given. */
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
  const buckets = { ...config, client: s3, lifetimeSeconds: config.downloadUrlSeconds }
  const documents = { client, tableName: config.documentsTable, now }
  const deps = {
    ...createWorkspaceStores({ config, dynamoDb: client, s3, now }),
    apiKeys: createApiKeyStore({ client, tableName: config.keysTable }),
    rateLimiter: createRateLimiter({ client, tableName: config.rateLimitsTable, policy: config.rateLimit, now }),
    admission: createAdmission({ now }),
    listing: createDocumentListing(documents),
    documentObjects: createDocumentObjects(buckets),
    downloads: createDownloadSigner(buckets),
    containerFiles: createContainerFiles(buckets),
    maxFileBytes: config.maxFileBytes,
    log,
    metrics,
  }
  return {
    deps,
    handlers: {
      'promote-container-file': createPromoteContainerFileHandler(deps),
      'read-documents': createReadDocumentsHandler(deps),
      'delete-document': createDeleteDocumentHandler(deps),
      'read-container-files': createReadContainerFilesHandler(deps),
    },
  }
}
