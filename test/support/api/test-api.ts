import { beforeEach } from 'vitest'
import { ONLY_IF_LISTED, PLATFORM_PERMISSIONS } from '../../../lib/auth/caller.ts'
import type { RateLimiter } from '../../../lib/auth/rate-limit.ts'
import { entryOf } from '../../../lib/http/operations.ts'
import { formatFileId, type WorkspaceId } from '../../../lib/ids.ts'
import type { MetricDetail, MetricValues } from '../../../lib/metrics.ts'
import { storedObject, type TestObject } from '../aws/memory-s3.ts'
import { CONFIG } from '../dynamodb/memory-tables.ts'
import { createPorts } from '../ports.ts'
import { createApiKeys, createLimiter } from '../stores/keys-and-limits.ts'
import { invoke } from './invoke.ts'
import type { AnyResponse } from './openapi.ts'
import { createHandlers, type HandlerDependencies, OPERATIONS, type OperationName, PROMOTION } from './operations.ts'
import { lambdaContext, type RouteRequest, routeEvent } from './rest-event.ts'

export const CONTAINER = 'sess_1'
/** Another workspace than that of all keys but one. */
export const FOREIGN = 'ws_2' as WorkspaceId
export const PATH = 'output/report.csv'
export const CSV = Buffer.from('a,b\n1,2\n')
export const KEY = 'order-4711'
export const withKey = (key = KEY) => ({ headers: { 'Idempotency-Key': key } })
export const OPENAI = { 'user-agent': 'OpenAI/JS 6.49.0' }
export const ANTHROPIC = { 'anthropic-version': '2026-10-21' }
export const OPENROUTER = { 'user-agent': 'speakeasy-sdk/typescript 1.3.19 2.0 1.0 @openrouter/sdk' }

const TOLD = { remaining: 4, resetMs: 1000, retryAfterMs: 0 }
export const UNLIMITED: RateLimiter = {
  policy: { requestsPerMinute: 60_000, burst: 10_000 },
  take: async () => ({ policy: UNLIMITED.policy, isAllowed: true, isDisabled: false, ...TOLD }),
  setLimits: async () => undefined,
}

interface TestRequest extends RouteRequest {
  /** Of the container file, unless `parameters` says more. */
  path?: string
  containerId?: string
  /** Of the key; omitted: of one that may make this request. */
  token?: string | undefined
  remainingMs?: number | (() => number)
}

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
  const everything = { kind: 'management', permissions: ONLY_IF_LISTED } as const
  const managementToken = apiKeys.add(everything)
  const platformToken = apiKeys.add({ kind: 'platform', permissions: PLATFORM_PERMISSIONS })
  const foreignToken = apiKeys.add({ ...everything, workspaceId: FOREIGN })
  /** @param described its type, or all that S3 knows of it */
  const putFile = (
    path: string,
    bytes: Buffer,
    described: string | Omit<TestObject, 'bytes'> = {},
    workspaceId = 'ws_1',
    containerId = CONTAINER,
  ) => {
    const object = typeof described === 'string' ? { contentType: described } : described
    return objects.sandbox.set(`sandboxes/${workspaceId}/${containerId}/${path}`, storedObject({ bytes, ...object }))
  }
  putFile(PATH, CSV, 'text/csv')

  function send(operation: typeof PROMOTION, request: TestRequest): Promise<AnyResponse> {
    const { path = PATH, containerId = CONTAINER, parameters, headers, token: sent, remainingMs, ...more } = request
    const event = routeEvent(operation, {
      parameters: { container_id: containerId, file_id: formatFileId(path), ...parameters },
      headers: { Authorization: `Bearer ${sent}`, ...headers },
      ...more,
    })
    return invoke(handlers[operation.functionId], { event, operation, context: lambdaContext(remainingMs) })
  }

  const promote = (request: TestRequest = {}) => send(PROMOTION, { token, ...request })

  /** Any of the other operations, with a key that may do everything unless the request has another. */
  function call(name: OperationName, request: TestRequest = {}): Promise<AnyResponse> {
    const byDefault = entryOf(name).for === 'platform' ? platformToken : managementToken
    const { document_id: id = 'file_1' } = request.parameters ?? {}
    return send(OPERATIONS[name], { token: byDefault, body: withId(OPERATIONS[name].body, id), ...request })
  }

  const promoteAll = (body: object | string, request: TestRequest = {}) =>
    call('promote_container_files', { body, ...request })

  return {
    clock: ports.clock,
    ports: ports.deps,
    send,
    promote,
    call,
    promoteAll,
    token,
    managementToken,
    platformToken,
    foreignToken,
    putFile,
    apiKeys,
    objects,
    ledger,
    closeWorkspace: ports.closeWorkspace,
    run: ports.run,
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
