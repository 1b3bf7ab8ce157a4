import { AsyncLocalStorage } from 'node:async_hooks'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { createApiKeyStore } from '../../lib/aws/api-key-store.ts'
import { createDynamoDbClient, createS3Client } from '../../lib/aws/clients.ts'
import { createContainerFiles } from '../../lib/aws/container-files.ts'
import { createDocumentListing } from '../../lib/aws/document-listing.ts'
import { createDocumentObjects } from '../../lib/aws/document-objects.ts'
import { createDocumentRecords } from '../../lib/aws/document-records.ts'
import { createDownloadSigner } from '../../lib/aws/download-signer.ts'
import { createLedgerMaintenance } from '../../lib/aws/ledger-maintenance.ts'
import { createObjectStore } from '../../lib/aws/object-store.ts'
import { createQuotaLedger } from '../../lib/aws/quota-ledger.ts'
import { createRateLimiter } from '../../lib/aws/rate-limiter.ts'
import { createReservations } from '../../lib/aws/reservations.ts'
import { createTableWorkspaces } from '../../lib/aws/table-workspaces.ts'
import { createDeleteDocumentHandler } from '../../lib/http/delete-document.ts'
import { createPromoteContainerFileHandler } from '../../lib/http/promote-container-file.ts'
import { createReadContainerFilesHandler } from '../../lib/http/read-container-files.ts'
import { createReadDocumentsHandler } from '../../lib/http/read-documents.ts'
import { type DocumentId, formatFileId, type WorkspaceId } from '../../lib/ids.ts'
import type { Log } from '../../lib/logging.ts'
import { audit } from '../../lib/maintenance/audit.ts'
import type { Finding } from '../../lib/maintenance/findings.ts'
import { resolveExpiredReservations } from '../../lib/maintenance/resolve-expired-reservations.ts'
import { createObjectKeys } from '../../lib/object-keys.ts'
import { createAdmission } from '../../lib/promotion/admission.ts'
import { deleteDocument } from '../../lib/promotion/delete-document.ts'
import { resolveWorkspace } from '../../lib/promotion/resolve-workspace.ts'
import { type AwsCall, type Fault, type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { type AnyResponse, expectDocumented } from './openapi.ts'
import { OPERATIONS, type OperationName } from './operations.ts'
import { lambdaContext, type RouteRequest, restEvent, routeEvent } from './rest-event.ts'
import { CREDENTIALS, type StandIns } from './stand-ins.ts'
import type { TestWorkspace } from './world.ts'

export type Killed = { kind: 'kill_before' } | { kind: 'kill_after' }
export type LaneFault = Fault | Killed

const SILENT: Log = { info() {}, warn() {}, error() {}, with: () => SILENT }
/** Never, on however busy a machine. */
const PATIENT_MS = 20_000
/** Shorter than the product's, so that a call that hangs is repeated within the test's patience. */
const IMPATIENT_MS = 400
const RESOLVER_BOUNDS = { maxResolutions: 1000, timeoutEachMs: 20_000 }

/**
 * One process of the service on shared stand-ins: every function with its real adapters and SDK clients, whose calls can be
 * broken one by one. A killed process does no call any more, until the next one is started by `revive`.
 */
export async function startLane(standIns: StandIns) {
  const { config } = standIns
  const dynamoDbProxy = await startFaultProxy(standIns.dynamoDbEndpoint)
  const s3Proxy = await startFaultProxy(standIns.s3Endpoint)
  const proxies: FaultProxy[] = [dynamoDbProxy, s3Proxy]
  const functionId = new AsyncLocalStorage<string>()
  /** Names the function in the calls' user agent, as its environment does in a deployment: also in those it makes late. */
  const actAs = <Result>(id: string, work: () => Promise<Result>): Promise<Result> => functionId.run(id, work)
  const common = { region: 'us-east-1', credentials: CREDENTIALS, userAgentAppId: async () => functionId.getStore() }
  const requestHandler = new NodeHttpHandler({ requestTimeout: PATIENT_MS, throwOnRequestTimeout: true })
  const client = createDynamoDbClient({ ...common, endpoint: dynamoDbProxy.endpoint, requestHandler })
  const s3 = createS3Client({ ...common, endpoint: s3Proxy.endpoint })
  let clockOffsetMs = 0
  let isDead = false
  const now = () => Date.now() + clockOffsetMs
  const ledgerSettings = { ...config, client, tableName: config.workspacesTable, now }
  const deps = {
    apiKeys: createApiKeyStore({ client, tableName: config.keysTable }),
    rateLimiter: createRateLimiter({ client, tableName: config.rateLimitsTable, policy: config.rateLimit, now }),
    ledger: createQuotaLedger(ledgerSettings),
    ledgers: createLedgerMaintenance(ledgerSettings),
    reservations: {
      ...createReservations({ client, tableName: config.reservationsTable }),
      ...createTableWorkspaces({
        client,
        tableName: config.reservationsTable,
        sortKey: 'reservation_id',
        name: 'reservations',
      }),
    },
    admission: createAdmission({ now }),
    documents: {
      ...createDocumentRecords({ client, tableName: config.documentsTable, now }),
      ...createTableWorkspaces({ client, tableName: config.documentsTable, sortKey: 'document_id', name: 'documents' }),
    },
    objects: createObjectStore({ ...config, client: s3 }),
    objectKeys: createObjectKeys(config.keyTemplates),
    maxFileBytes: config.maxFileBytes,
    leaseMs: config.leaseMs,
    now,
    log: SILENT,
    metrics: { publish() {} },
  }
  const handler = createPromoteContainerFileHandler(deps)
  const buckets = { ...config, client: s3, lifetimeSeconds: config.downloadUrlSeconds }
  const fileDeps = {
    ...deps,
    listing: createDocumentListing({ client, tableName: config.documentsTable }),
    documentObjects: createDocumentObjects(buckets),
    downloads: createDownloadSigner(buckets),
    containerFiles: createContainerFiles(buckets),
  }
  const readDocuments = ['read-documents', createReadDocumentsHandler(fileDeps)] as const
  const readContainerFiles = ['read-container-files', createReadContainerFilesHandler(fileDeps)] as const
  const handlers = {
    list_documents: readDocuments,
    retrieve_document: readDocuments,
    download_document: readDocuments,
    delete_document: ['delete-document', createDeleteDocumentHandler(fileDeps)],
    list_container_files: readContainerFiles,
    retrieve_container_file: readContainerFiles,
    download_container_file: readContainerFiles,
  } as const satisfies Record<OperationName, readonly [string, typeof handler]>
  const bounded = (timeoutMs: number) => AbortSignal.timeout(timeoutMs)

  return {
    deps,
    isDead: () => isDead,
    /** Until the next revival, calls of DynamoDB that hang are given up early. */
    beImpatient: () => requestHandler.updateHttpClientConfig('requestTimeout', IMPATIENT_MS),
    /** From now on, each call is asked for its fault. A kill is remembered: later calls are refused. */
    breakCalls(decide: (call: AwsCall) => LaneFault | undefined): void {
      const fault = (call: AwsCall): Fault | undefined => {
        if (isDead) return { kind: 'refuse' }
        const decided = decide(call)
        if (decided?.kind !== 'kill_before' && decided?.kind !== 'kill_after') return decided
        isDead = true
        return decided.kind === 'kill_before' ? { kind: 'refuse' } : { kind: 'lose_answer' }
      }
      for (const proxy of proxies) proxy.fault = fault
    },
    revive(): void {
      isDead = false
      requestHandler.updateHttpClientConfig('requestTimeout', PATIENT_MS)
      for (const proxy of proxies) proxy.fault = () => undefined
    },
    takeCalls: () => proxies.flatMap((proxy) => proxy.calls.splice(0).map(({ name }) => name)),
    async deliverLate(): Promise<void> {
      for (const proxy of proxies) await proxy.deliverLate()
    },
    setClock(offsetMs: number): void {
      clockOffsetMs = offsetMs
    },

    async promote(
      { token }: TestWorkspace,
      path: string,
      options: { idempotencyKey?: string; remainingMs: number },
    ): Promise<AnyResponse> {
      const event = restEvent({
        containerId: 'sess_1',
        fileId: formatFileId(path),
        headers: {
          authorization: `Bearer ${token}`,
          ...(options.idempotencyKey && { 'idempotency-key': options.idempotencyKey }),
        },
      })
      const context = lambdaContext(options.remainingMs)
      const answer = await actAs('promote-container-file', () => handler(event as never, context))
      const headers = Object.fromEntries(
        Object.entries(answer.headers ?? {}).map(([name, value]) => [name, String(value)]),
      )
      const response = { status: answer.statusCode, headers, body: JSON.parse(answer.body) }
      if (!isDead) expectDocumented(response)
      return response
    },
    /** Any of the other operations. */
    async call(
      name: OperationName,
      { token }: TestWorkspace,
      request: Omit<RouteRequest, 'headers'> & { remainingMs: number },
    ): Promise<AnyResponse> {
      const event = routeEvent(OPERATIONS[name], { ...request, headers: { authorization: `Bearer ${token}` } })
      const [id, operation] = handlers[name]
      const answer = await actAs(id, () => operation(event as never, lambdaContext(request.remainingMs)))
      const headers = Object.fromEntries(
        Object.entries(answer.headers ?? {}).map(([header, value]) => [header.toLowerCase(), String(value)]),
      )
      const response = { status: answer.statusCode, headers, body: JSON.parse(answer.body) }
      if (!isDead) expectDocumented(response, OPERATIONS[name])
      return response
    },
    resolve: (timeoutMs = 5000) =>
      actAs('resolve-reservations', () => resolveExpiredReservations(RESOLVER_BOUNDS, deps, bounded(timeoutMs))),
    /** Resolves this workspace's reservations only: others may be other lanes'. */
    resolveWorkspace: (workspaceId: WorkspaceId, timeoutMs = 30_000) =>
      actAs('resolve-reservations', () => resolveWorkspace(workspaceId, RESOLVER_BOUNDS, deps, bounded(timeoutMs))),
    async audit(workspaceId: WorkspaceId, repair: boolean, timeoutMs = 30_000): Promise<Finding[]> {
      const findings: Finding[] = []
      // The function of that name only reads; repairs are the command line's.
      await actAs(repair ? 'admin' : 'audit-workspaces', () =>
        audit(
          { repair, deleteLostDocuments: repair, workspaceId, onFinding: (finding) => findings.push(finding) },
          deps,
          bounded(timeoutMs),
        ),
      )
      return findings
    },
    delete: (workspaceId: WorkspaceId, documentId: DocumentId, timeoutMs = 5000) =>
      deleteDocument({ workspaceId, documentId }, deps, bounded(timeoutMs)),
    async stop(): Promise<void> {
      client.destroy()
      s3.destroy()
      await Promise.all(proxies.map((proxy) => proxy.stop()))
    },
  }
}

export type Lane = Awaited<ReturnType<typeof startLane>>
