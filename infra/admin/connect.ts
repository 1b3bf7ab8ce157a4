import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createDynamoDbClient, createS3Client } from '../../lib/aws/clients.ts'
import { createDocumentRecords } from '../../lib/aws/document-records.ts'
import { createLedgerOverview } from '../../lib/aws/ledger-overview.ts'
import { createObjectStore } from '../../lib/aws/object-store.ts'
import { createQuotaLedger } from '../../lib/aws/quota-ledger.ts'
import { type Environment, readConfig } from '../../lib/config.ts'
import { createObjectKeys } from '../../lib/promotion/object-keys.ts'
import type { DemoFileContent } from '../local/service.ts'
import { readServiceDefinition } from '../local/service-definition.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The stores of a deployment, as its functions see them. @param env the functions' environment, and AWS's own variables */
export function connect(env: Environment) {
  const config = readConfig(env)
  const now = Date.now
  const client = createDynamoDbClient()
  const ledgerSettings = { ...config, client, tableName: config.workspacesTable }
  return {
    config,
    now,
    leaseMs: config.leaseMs,
    objectKeys: createObjectKeys(config.keyTemplates),
    overview: createLedgerOverview(ledgerSettings),
    ledger: createQuotaLedger(ledgerSettings),
    documents: createDocumentRecords({ client, tableName: config.documentsTable, now }),
    objects: createObjectStore({ ...config, client: createS3Client({ forcePathStyle: config.s3ForcePathStyle }) }),
  }
}

/** The environment of the service that npm start runs, for the AWS clients of this process, too. */
export async function useLocalService(directory: string): Promise<Environment> {
  const file = join(directory, 'demo.json')
  const demo: DemoFileContent = await readFile(file, 'utf8').then(JSON.parse, () => {
    throw new Error(`${file} is not there: start the local service first, with npm start`)
  })
  const { environment } = await readServiceDefinition(ROOT, 'local')
  process.env.AWS_REGION ??= 'us-east-1'
  process.env.AWS_ACCESS_KEY_ID ??= 'local'
  process.env.AWS_SECRET_ACCESS_KEY ??= 'local'
  process.env.AWS_ENDPOINT_URL_DYNAMODB = demo.dynamodb_endpoint
  process.env.AWS_ENDPOINT_URL_S3 = demo.s3_endpoint
  return environment
}
