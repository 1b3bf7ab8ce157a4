import { NodeHttpHandler } from '@smithy/node-http-handler'
import { createApiKeyStore } from '../../../lib/aws/api-key-store.ts'
import { createDynamoDbClient } from '../../../lib/aws/clients.ts'
import { createDocumentRecords } from '../../../lib/aws/document-records.ts'
import { createQuotaLedger } from '../../../lib/aws/quota-ledger.ts'
import { createRateLimiter } from '../../../lib/aws/rate-limiter.ts'
import { readConfig } from '../../../lib/config.ts'
import { createPromoteContainerFileHandler } from '../../../lib/http/promote-container-file.ts'
import type { Log } from '../../../lib/logging.ts'
import { formatFileId } from '../../../lib/promotion/ids.ts'
import { createObjectKeys } from '../../../lib/promotion/object-keys.ts'
import type { ObjectStore } from '../../../lib/promotion/ports.ts'
import { nameDynamoDbCall } from '../../support/fault-proxy.ts'
import { lambdaContext, restEvent } from '../../support/rest-event.ts'
import { serve } from '../worker.ts'

export interface Storm {
  succeeded: number
  seconds: number
  /** Requests on the wire, the SDK's repetitions included. */
  requests: Record<string, number>
  /** Write units of the calls on the workspace's item, which is the larger the more promotions are under way. */
  ledgerUnits: number
}

const LONG_MS = 600_000
const [token = ''] = process.argv.slice(2)
const config = readConfig(process.env)
// Hundreds of Lambdas in one process: the time limits of one would measure the machine, not the ledger.
const client = createDynamoDbClient({ requestHandler: new NodeHttpHandler({ httpAgent: { maxSockets: 64 } }) })
let requests: Record<string, number> = {}
let ledgerUnits = 0
client.middlewareStack.add(
  (next) => (args) => {
    const { headers, body } = args.request as { headers: Record<string, string>; body: string | Uint8Array }
    const name = nameDynamoDbCall({ body: typeof body === 'string' ? body : new TextDecoder().decode(body) }, headers)
    requests[name] = (requests[name] ?? 0) + 1
    return next(args)
  },
  // After the SDK's own repetitions: each of them is counted.
  { step: 'deserialize' },
)
client.middlewareStack.add(
  (next) => async (args) => {
    const answer = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } })
    const { ConsumedCapacity } = answer.output as { ConsumedCapacity?: { CapacityUnits?: number } }
    const { TableName } = args.input as { TableName?: string }
    if (TableName === config.workspacesTable) ledgerUnits += ConsumedCapacity?.CapacityUnits ?? 0
    return answer
  },
  { step: 'initialize' },
)
const SILENT: Log = { info() {}, warn() {}, error() {}, with: () => SILENT }
const objects: ObjectStore = {
  findContainerFile: async (objectKey) => ({
    objectKey,
    sizeBytes: 1,
    etag: '"etag"',
    contentType: 'text/plain',
    contentEncoding: undefined,
    contentLanguage: undefined,
    isArchived: false,
    modifiedAt: new Date(),
  }),
  hasContainer: async () => true,
  readStart: async () => new Uint8Array(),
  async copy() {},
  async discard() {},
}
const now = Date.now
const handler = createPromoteContainerFileHandler({
  apiKeys: createApiKeyStore({ client, tableName: config.keysTable }),
  rateLimiter: createRateLimiter({ client, tableName: config.rateLimitsTable, policy: config.rateLimit, now }),
  ledger: createQuotaLedger({ ...config, client, tableName: config.workspacesTable }),
  documents: createDocumentRecords({ client, tableName: config.documentsTable, now }),
  objects,
  objectKeys: createObjectKeys(config.keyTemplates),
  maxFileBytes: config.maxFileBytes,
  leaseMs: config.leaseMs,
  now,
  log: SILENT,
  metrics: { publish() {} },
})

const methods = {
  async run({ count, atOnce }: { count: number; atOnce: number }): Promise<Storm> {
    requests = {}
    ledgerUnits = 0
    let succeeded = 0
    let left = count
    const startedMs = performance.now()
    const clientOfOurs = async () => {
      while (left-- > 0) {
        const fileId = formatFileId('output/1.bin')
        const event = restEvent({ containerId: 'sess_1', fileId, headers: { authorization: `Bearer ${token}` } })
        const answer = await handler(event as never, lambdaContext(LONG_MS))
        if (answer.statusCode === 200) succeeded++
      }
    }
    await Promise.all(Array.from({ length: atOnce }, clientOfOurs))
    return { succeeded, seconds: (performance.now() - startedMs) / 1000, requests, ledgerUnits }
  },
}
export type ContentionMethods = typeof methods

serve(methods)
