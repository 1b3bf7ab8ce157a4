import { beforeEach } from 'vitest'
import { ONLY_IF_LISTED, PLATFORM_PERMISSIONS } from '../../../lib/auth/caller.ts'
import { entryOf } from '../../../lib/http/operations.ts'
import { formatFileId } from '../../../lib/ids.ts'
import type { MetricDetail, MetricValues } from '../../../lib/metrics.ts'
import { storedObject } from '../aws/memory-s3.ts'
import { CONFIG } from '../dynamodb/memory-tables.ts'
import { createPorts } from '../ports.ts'
import { createApiKeys, createLimiter } from '../stores/keys-and-limits.ts'
import { invoke } from './invoke.ts'
import type { AnyResponse } from './openapi.ts'
import { createHandlers, type HandlerDependencies, OPERATIONS, type OperationName } from './operations.ts'
import { lambdaContext, type RouteRequest, restEvent, routeEvent } from './rest-event.ts'

export const CONTAINER = 'sess_1'
export const PATH = 'output/report.csv'
export const CSV = Buffer.from('a,b\n1,2\n')

export const withId = (body: object | undefined, id: string) =>
  body && JSON.parse(JSON.stringify(body), (_, value) => (value === '{document_id}' ? id : value))

/** The whole HTTP surface, use cases and adapters, on stores in memory, with one container file and one key to begin with. */
export function createTestApi(change: Partial<HandlerDependencies> = {}) {
  const ports = createPorts()
  const { ledger, documents, objects, logged, stored } = ports
  const apiKeys = createApiKeys(stored)
  const published: (MetricValues & Partial<Record<'reason' | 'kind' | 'operation', string>>)[] = []
  const dependencies: HandlerDependencies = {
    ...CONFIG,
    ...ports.deps,
    apiKeys,
    containerFiles: objects,
    containerFileWriter: objects,
    documentObjects: objects,
    ...{ linkDays: 7, linksUrl: 'https://files.example/l' },
    rateLimiter: createLimiter({ requestsPerMinute: 60, burst: 5 }, ports.deps.now, stored),
    metrics: { publish: (values, detail?: MetricDetail) => void published.push({ ...values, ...detail }) },
    administration: {
      ...ports.deps,
      ...{ defaultQuotaBytes: CONFIG.defaultQuotaBytes, leastErasureSeconds: 0, logRetentionDays: 30 },
      apiKeys: ports.deps.keyAdministration,
    },
    ...change,
  }
  const handlers = createHandlers(dependencies)
  const token = apiKeys.add()
  const managementToken = apiKeys.add({ kind: 'management', permissions: [...ONLY_IF_LISTED] })
  const platformToken = apiKeys.add({ kind: 'platform', permissions: PLATFORM_PERMISSIONS })
  const putFile = (path: string, bytes: Buffer, contentType?: string, workspaceId = 'ws_1', containerId = CONTAINER) =>
    objects.sandbox.set(`sandboxes/${workspaceId}/${containerId}/${path}`, storedObject({ bytes, contentType }))
  putFile(PATH, CSV, 'text/csv')

  async function promote(request: {
    path?: string
    containerId?: string | undefined
    fileId?: string | undefined
    headers?: Record<string, string | string[]>
    body?: object | undefined
    remainingMs?: number
  }): Promise<AnyResponse> {
    const event = restEvent({
      containerId: 'containerId' in request ? request.containerId : CONTAINER,
      fileId: 'fileId' in request ? request.fileId : formatFileId(request.path ?? PATH),
      headers: { Authorization: `Bearer ${token}`, ...request.headers },
      body: request.body,
    })
    return invoke(handlers['promote-container-file'], { event, context: lambdaContext(request.remainingMs) })
  }

  /** Any of the other operations, with a key that may do everything unless the request has another. */
  async function call(
    name: OperationName,
    { headers, remainingMs, ...request }: RouteRequest & { remainingMs?: number | (() => number) } = {},
  ): Promise<AnyResponse> {
    const operation = OPERATIONS[name]
    const byDefault = entryOf(name).for === 'platform' ? platformToken : managementToken
    const { document_id: id = 'file_1' } = (request.parameters ?? {}) as { document_id?: string }
    const event = routeEvent(operation, {
      body: withId(operation.body, id),
      ...request,
      headers: { Authorization: `Bearer ${byDefault}`, ...headers },
    })
    return invoke(handlers[operation.functionId], { event, operation, context: lambdaContext(remainingMs) })
  }

  const promoteAll = (
    body: object | string,
    { containerId = CONTAINER, ...request }: Parameters<typeof call>[1] & { containerId?: string } = {},
  ) => call('promote_container_files', { parameters: { container_id: containerId }, body, ...request })

  return {
    clock: ports.clock,
    ports: ports.deps,
    promote,
    call,
    promoteAll,
    token,
    managementToken,
    platformToken,
    putFile,
    apiKeys,
    objects,
    ledger,
    closeWorkspace: ports.closeWorkspace,
    workspaces: ports.deps.workspaces,
    dueWork: ports.deps.dueWork,
    documents,
    stored,
    logged,
    published,
    dependencies,
    handlers,
  }
}

export type TestApi = ReturnType<typeof createTestApi>

/** That, new for each test of the file that calls this. */
export function useTestApi(change?: Parameters<typeof createTestApi>[0]): TestApi {
  const api = {} as TestApi
  beforeEach(() => void Object.assign(api, createTestApi(change)))
  return api
}
