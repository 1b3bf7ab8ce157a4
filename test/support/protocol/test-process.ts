import { AsyncLocalStorage } from 'node:async_hooks'
import { audit } from '../../../lib/audit/audit.ts'
import type { Finding } from '../../../lib/audit/findings.ts'
import { createDynamoDbClient, createS3Client } from '../../../lib/aws/clients.ts'
import { type DocumentId, formatFileId, type WorkspaceId } from '../../../lib/ids.ts'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import type { DueKind, DueWork } from '../../../lib/ledger/ports/documents.ts'
import { resolveDueItems } from '../../../lib/ledger/resolve-due-items.ts'
import type { Log } from '../../../lib/logging.ts'
import type { Metrics } from '../../../lib/metrics.ts'
import { invoke } from '../api/invoke.ts'
import type { AnyResponse } from '../api/openapi.ts'
import { type FunctionId, OPERATIONS, type OperationName } from '../api/operations.ts'
import { lambdaContext, type RouteRequest, restEvent, routeEvent } from '../api/rest-event.ts'
import { type Life, newLife, PATIENT_MS, type ProcessFault, startBreakableTransport } from './breakable-transport.ts'
import { composeFunctions } from './compose-functions.ts'
import type { AwsCall } from './fault-proxy.ts'
import { type TestStores, UNSIGNED } from './test-stores.ts'
import type { TestWorkspace } from './workspaces.ts'

const SILENT: Log = { info() {}, warn() {}, error() {}, with: () => SILENT }

interface Options {
  /** When calls that are made to hang end, if they bring no limit of their own. */
  hungMs?: number
  log?: Log
  metrics?: Metrics
}

/**
 * One process of the service: every function with its real adapters and SDK clients, whose calls can be broken one by one,
 * on the wire. A killed process makes no call any more; `restart` begins the next one.
 */
export async function startTestProcess(
  testStores: TestStores,
  { hungMs = 100, log = SILENT, metrics = { publish() {} } }: Options = {},
) {
  const { config, stores } = testStores
  const calling = new AsyncLocalStorage<{ life: Life }>()
  const acting = new AsyncLocalStorage<string>()
  let life = newLife(true)
  let clockOffsetMs = 0
  let stoppedAtMs: number | undefined
  const now = () => (stoppedAtMs ?? Date.now()) + clockOffsetMs
  const lifeOf = () => calling.getStore()?.life ?? life
  const dynamoDbTransport = await startBreakableTransport({ store: stores.dynamoDb, lifeOf, hungMs })
  const s3Transport = await startBreakableTransport({ store: stores.s3, lifeOf, hungMs })
  const over = (requestHandler: typeof s3Transport) => ({
    ...UNSIGNED,
    endpoint: requestHandler.endpoint,
    requestHandler,
    // A function's environment does this in a deployment; late calls must have it, too.
    userAgentAppId: async () => acting.getStore(),
  })
  const dynamoDb = createDynamoDbClient(over(dynamoDbTransport) as never)
  const s3 = createS3Client({ ...over(s3Transport), forcePathStyle: true } as never)
  /** Functions composed in a life make their calls in that life, whoever calls them, whenever. */
  const compose = () => {
    const own = { life }
    const bound = <Client extends { send: unknown }>(client: Client): Client => {
      const { send } = client as { send(...args: unknown[]): Promise<unknown> }
      return Object.assign(Object.create(client), {
        send: (...args: unknown[]) => calling.run(own, () => send.apply(client, args)),
      })
    }
    return composeFunctions({ config, dynamoDb: bound(dynamoDb), s3: bound(s3), now, log, metrics })
  }
  let composed = compose()

  const actAs = <Result>(functionId: string, work: () => Promise<Result>) => acting.run(functionId, work)
  const answered = async (functionId: FunctionId, request: Parameters<typeof invoke>[1]): Promise<AnyResponse> => {
    const own = life
    const handler = composed.handlers[functionId]
    return actAs(functionId, () =>
      invoke(async (event, context) => {
        const answer = await handler(event, context)
        // Nobody sees what it would still answer.
        if (own.mayBeReplaced) throw new Error('this process was killed')
        return answer
      }, request),
    )
  }

  const resolve = (kind: DueKind, workspaceId: WorkspaceId, timeoutMs: number) => {
    const { deps } = composed
    const run = { timeoutEachMs: PATIENT_MS, shards: testStores.dueShards(kind, workspaceId) }
    const ofWorkspace = { ...deps, dueWork: onlyOf(workspaceId, deps.dueWork) }
    return actAs('resolve-due-work', () => resolveDueItems(kind, run, ofWorkspace, AbortSignal.timeout(timeoutMs)))
  }

  return {
    ...testStores,
    /** The dependencies of the present life: when that is over, they make no more calls. */
    get deps() {
      return composed.deps
    },
    mayBeReplaced: () => life.mayBeReplaced,
    died: () => life.died,
    /** From now on, each call is asked for its fault. A kill is remembered: later calls are refused. */
    breakCalls(decide: (call: AwsCall) => ProcessFault | undefined): void {
      life.faultOf = decide
    },
    /**
     * The next process: nothing happens to its calls. The last one makes none any more.
     * @param onTheWire whether calls to which nothing happens go over the network as well
     */
    restart({ onTheWire = true }: { onTheWire?: boolean } = {}): void {
      life.die()
      life.isTimeUp = true
      life = newLife(onTheWire)
      composed = compose()
    },
    takeCalls: (): AwsCall[] => life.calls.splice(0),
    takeCallNames: (): string[] => life.calls.splice(0).map(({ name }) => name),
    async deliverLate(): Promise<void> {
      await dynamoDbTransport.deliverLate()
      await s3Transport.deliverLate()
    },
    /** Stops its clock from now on, so that what depends on it is the same in each run. */
    stopClock(atMs: number | undefined): void {
      stoppedAtMs = atMs
    },
    clockOffsetMs: () => clockOffsetMs,
    setClock(offsetMs: number): void {
      clockOffsetMs = offsetMs
    },

    promote(
      { token }: TestWorkspace,
      path: string,
      options: {
        idempotencyKey?: string
        headers?: Record<string, string> | undefined
        remainingMs?: number | (() => number) | undefined
      } = {},
    ): Promise<AnyResponse> {
      const event = restEvent({
        containerId: 'sess_1',
        fileId: formatFileId(path),
        headers: {
          authorization: `Bearer ${token}`,
          ...options.headers,
          ...(options.idempotencyKey && { 'idempotency-key': options.idempotencyKey }),
        },
      })
      return answered('promote-container-file', { event, context: lambdaContext(options.remainingMs) })
    },
    openLink(token: string, remainingMs?: () => number): Promise<AnyResponse> {
      const operation = { method: 'get', path: '/l/{token}' } as const
      const event = routeEvent(operation, { parameters: { token } })
      return answered('open-link', { event, operation, context: lambdaContext(remainingMs) })
    },

    /** Any of the other operations. */
    call(
      name: OperationName,
      { token }: TestWorkspace,
      request: Omit<RouteRequest, 'headers'> & { remainingMs?: number | (() => number) | undefined },
    ): Promise<AnyResponse> {
      const operation = OPERATIONS[name]
      const event = routeEvent(operation, {
        body: OPERATIONS[name].body,
        ...request,
        headers: { authorization: `Bearer ${token}` },
      })
      return answered(operation.functionId, { event, operation, context: lambdaContext(request.remainingMs) })
    },
    /** Goes on with what processes have left in this workspace. */
    resolveWorkspace: (workspaceId: WorkspaceId, timeoutMs = PATIENT_MS) => resolve('work', workspaceId, timeoutMs),
    /** Deletes what has expired in it. */
    expire: (workspaceId: WorkspaceId, timeoutMs = PATIENT_MS) => resolve('expiry', workspaceId, timeoutMs),
    async audit(workspaceId: WorkspaceId, repair: boolean, timeoutMs = PATIENT_MS): Promise<Finding[]> {
      const findings: Finding[] = []
      // The function of that name only reads; only the command line repairs.
      await actAs(repair ? 'admin' : 'audit-workspaces', () =>
        audit(
          { repair, deleteLostDocuments: repair, workspaceId, onFinding: (finding) => findings.push(finding) },
          composed.deps,
          AbortSignal.timeout(timeoutMs),
        ),
      )
      return findings
    },
    /** As an administrator does. */
    delete: (workspaceId: WorkspaceId, documentId: DocumentId, timeoutMs = PATIENT_MS) =>
      actAs('admin', async () => {
        const [{ deps }, signal] = [composed, AbortSignal.timeout(timeoutMs)]
        const item = await deps.documents.find({ workspaceId, documentId }, signal)
        return item && item.state !== 'pending' ? deleteDocument(item, {}, deps, signal) : undefined
      }),
    async stop(): Promise<void> {
      life.die()
      dynamoDb.destroy()
      s3.destroy()
      await Promise.all([dynamoDbTransport.stop(), s3Transport.stop()])
    },
  }
}

/** The due work of one workspace: tests share their stores. */
const onlyOf = (workspaceId: WorkspaceId, dueWork: DueWork): DueWork => ({
  ...dueWork,
  async *listDue(due, signal) {
    for await (const page of dueWork.listDue(due, signal)) yield page.filter((each) => each.workspaceId === workspaceId)
  },
})

export type TestProcess = Awaited<ReturnType<typeof startTestProcess>>
