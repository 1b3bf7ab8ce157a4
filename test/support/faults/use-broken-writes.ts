import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { Reservation } from '../../../lib/promotion/reservations.ts'
import { newReservation, newWorkspaceId } from '../stores/ledger-values.ts'
import { openTableStores } from '../stores/table-stores.ts'
import { dynamoDbError } from './aws-failures.ts'
import { type BreakableDynamoDb, startBreakableDynamoDb } from './breakable-dynamodb.ts'
import type { AwsCall, Fault } from './fault-proxy.ts'
import { createTestStores, type TestStores } from './test-stores.ts'

const { signal } = new AbortController()
export const THROTTLED = dynamoDbError(400, 'ProvisionedThroughputExceededException')
export const FAILED = dynamoDbError(500, 'InternalServerError')
/** Not a fault of the proxy: the store does it, and what it answers is replaced by a 500. */
export const FAILED_AFTER = 'failed after'
export type WriteFault = Fault | typeof FAILED_AFTER | undefined

/** The adapters on the wire, whose next writes go wrong, and a workspace with 1,000 bytes for each test. */
export function useBrokenWrites() {
  let stores: TestStores
  let broken: BreakableDynamoDb
  const plan: WriteFault[] = []
  let answersFailed = false
  let ports: ReturnType<typeof openTableStores>
  let calm: ReturnType<typeof openTableStores>

  beforeAll(async () => {
    stores = await createTestStores()
    broken = await startBreakableDynamoDb(stores.stores.dynamoDb)
    broken.fault = (call) => {
      if (isRead(call)) return undefined
      const next = plan.shift()
      answersFailed = next === FAILED_AFTER
      return next === FAILED_AFTER ? undefined : next
    }
    broken.client.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args)
        if (answersFailed) (result.response as { statusCode: number }).statusCode = 500
        answersFailed = false
        return result
      },
      { step: 'deserialize', priority: 'low' },
    )
    ports = openTableStores({ ...stores, dynamoDb: broken.client })
    calm = openTableStores(stores)
  })
  afterAll(() => broken.stop())

  const isRead = ({ headers }: AwsCall) => /\.(GetItem|Query|Scan)$/.test(String(headers['x-amz-target']))
  const writes = () => broken.calls.filter((call) => !isRead(call)).length

  let workspaceId: WorkspaceId
  let unknownId: WorkspaceId
  let one: Reservation
  beforeEach(async () => {
    workspaceId = newWorkspaceId()
    unknownId = newWorkspaceId()
    one = newReservation({ workspaceId })
    await calm.ledger.create(workspaceId, 1000, signal)
    plan.splice(0)
    broken.calls.splice(0)
  })

  return {
    plan,
    writes,
    get broken() {
      return broken
    },
    /** Ports whose calls go wrong. */
    get ports() {
      return ports
    },
    /** Ports whose calls go well, for everything else. */
    get calm() {
      return calm
    },
    get workspaceId() {
      return workspaceId
    },
    /** Nobody has made it. */
    get unknownId() {
      return unknownId
    },
    get one() {
      return one
    },
  }
}
