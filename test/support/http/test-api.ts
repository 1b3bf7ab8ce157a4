import type { APIGatewayProxyResult } from 'aws-lambda'
import { createDeleteDocumentHandler, type DeleteDocumentHttpDependencies } from '../../../lib/http/delete-document.ts'
import { createPromoteContainerFileHandler, type HttpDependencies } from '../../../lib/http/promote-container-file.ts'
import {
  createReadContainerFilesHandler,
  type ReadContainerFilesDependencies,
} from '../../../lib/http/read-container-files.ts'
import { createReadDocumentsHandler, type ReadDocumentsDependencies } from '../../../lib/http/read-documents.ts'
import { formatFileId } from '../../../lib/ids.ts'
import type { Log, LogFields } from '../../../lib/logging.ts'
import type { MetricDetail, MetricValues } from '../../../lib/metrics.ts'
import { createObjectKeys } from '../../../lib/object-keys.ts'
import { createAdmission } from '../../../lib/promotion/admission.ts'
import { createFakeApiKeyStore } from '../../fakes/api-key-store.ts'
import { createFakeDocumentListing } from '../../fakes/document-listing.ts'
import { createFakeDocumentRecords } from '../../fakes/document-records.ts'
import { createFakeDownloadSigner } from '../../fakes/download-signer.ts'
import { createFakeObjectStore } from '../../fakes/object-store.ts'
import { createFakeQuotaLedger } from '../../fakes/quota-ledger.ts'
import { createFakeRateLimiter } from '../../fakes/rate-limiter.ts'
import { createFakeReservations } from '../../fakes/reservations.ts'
import { type AnyResponse, type DocumentedOperation, expectDocumented } from './openapi.ts'
import { OPERATIONS, type OperationName } from './operations.ts'
import { lambdaContext, type RouteRequest, restEvent, routeEvent } from './rest-event.ts'

export const NOW_MS = Date.parse('2026-11-21T09:38:35.556Z')
export const CONTAINER = 'sess_1'
export const PATH = 'output/report.csv'
export const CSV = Buffer.from('a,b\n1,2\n')

export interface LogLine extends LogFields {
  level: string
  message: string
}

type Dependencies = HttpDependencies &
  ReadDocumentsDependencies &
  DeleteDocumentHttpDependencies &
  ReadContainerFilesDependencies

/** The whole HTTP surface and the use case, on in-memory stores, with one container file and one key to begin with. */
export function createTestApi(change: Partial<Dependencies> = {}) {
  const now = () => NOW_MS
  const apiKeys = createFakeApiKeyStore()
  const objects = createFakeObjectStore()
  const ledger = createFakeQuotaLedger({ defaultQuotaBytes: 1000, maxTakings: 2 })
  const reservations = createFakeReservations()
  const documents = createFakeDocumentRecords()
  const rateLimiter = createFakeRateLimiter({ requestsPerMinute: 60, burst: 5 }, now)
  const objectKeys = createObjectKeys({
    sandbox: 'sandboxes/{workspace_id}/{container_id}/{path}',
    document: 'documents/{workspace_id}/{document_id}/{attempt_id}',
  })
  const logged: LogLine[] = []
  const published: (MetricValues & Partial<Record<'reason' | 'kind' | 'operation', string>>)[] = []
  const dependencies: Dependencies = {
    apiKeys,
    objects,
    ledger,
    reservations,
    admission: createAdmission({ now }),
    documents,
    listing: createFakeDocumentListing(documents),
    containerFiles: objects,
    documentObjects: objects,
    downloads: createFakeDownloadSigner(),
    rateLimiter,
    objectKeys,
    maxFileBytes: 500,
    leaseMs: 120_000,
    now,
    log: createRecordingLog(logged),
    metrics: { publish: (values, detail?: MetricDetail) => void published.push({ ...values, ...detail }) },
    ...change,
  }
  const handler = createPromoteContainerFileHandler(dependencies)
  const handlers = {
    'read-documents': createReadDocumentsHandler(dependencies),
    'delete-document': createDeleteDocumentHandler(dependencies),
    'read-container-files': createReadContainerFilesHandler(dependencies),
  }
  const token = apiKeys.add()
  const managementToken = apiKeys.add({ kind: 'management', keyId: 'key_all' })
  const putFile = (path: string, bytes: Buffer, contentType?: string, workspaceId = 'ws_1', containerId = CONTAINER) =>
    objects.sandbox.set(`sandboxes/${workspaceId}/${containerId}/${path}`, { bytes, contentType })
  putFile(PATH, CSV, 'text/csv')

  async function promote(request: {
    path?: string
    containerId?: string | undefined
    fileId?: string | undefined
    headers?: Record<string, string | string[]>
    remainingMs?: number
  }): Promise<AnyResponse> {
    const event = restEvent({
      containerId: 'containerId' in request ? request.containerId : CONTAINER,
      fileId: 'fileId' in request ? request.fileId : formatFileId(request.path ?? PATH),
      headers: { Authorization: `Bearer ${token}`, ...request.headers },
    })
    return toResponse(await handler(event as never, lambdaContext(request.remainingMs)))
  }

  /** Any of the other operations, with a key that may do everything unless the request has another. */
  async function call(name: OperationName, { headers, ...request }: RouteRequest = {}): Promise<AnyResponse> {
    const operation = OPERATIONS[name]
    const event = routeEvent(operation, {
      ...request,
      headers: { Authorization: `Bearer ${managementToken}`, ...headers },
    })
    return toResponse(await handlers[operation.functionId](event as never, lambdaContext()), operation)
  }

  function toResponse(answer: APIGatewayProxyResult, operation?: DocumentedOperation): AnyResponse {
    const headers = Object.fromEntries(
      Object.entries(answer.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
    )
    const response = { status: answer.statusCode, headers, body: JSON.parse(answer.body) }
    expectDocumented(response, operation)
    return response
  }

  return {
    promote,
    call,
    token,
    managementToken,
    putFile,
    apiKeys,
    objects,
    ledger,
    reservations,
    documents,
    logged,
    published,
    dependencies,
  }
}

export function createRecordingLog(lines: LogLine[], fields: LogFields = {}): Log {
  const write =
    (level: string) =>
    (message: string, more: LogFields = {}) => {
      lines.push({ ...fields, ...more, level, message })
    }
  return {
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    with: (more) => createRecordingLog(lines, { ...fields, ...more }),
  }
}
