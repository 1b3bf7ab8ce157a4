import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, expect, inject } from 'vitest'
import { openStores } from '../../../lib/aws/stores.ts'
import type { Config } from '../../../lib/config.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import { createTestStores } from '../protocol/test-stores.ts'
import {
  LEASE_END_MS,
  LEDGER_NOW_MS,
  LEDGER_SETTINGS,
  newAttempt,
  newDocument,
  newRefund,
  newWorkspaceId,
  pendingOf,
  signal,
  type TestAttempt,
} from './ledger-values.ts'
import { type StandIns, startStandIns } from './stand-ins.ts'

export const DAY_MS = 24 * 60 * 60 * 1000

/** The adapters on a DynamoDB with the tables of the configuration. */
export function openTableStores(
  { dynamoDb, config: given }: { dynamoDb: DynamoDBClient; config: Config },
  now: () => number = () => LEDGER_NOW_MS,
) {
  const config = { ...given, ...LEDGER_SETTINGS }
  const { ledger, workspaces, ...stores } = openStores({ config, dynamoDb, s3: {} as never, now })
  return { ...stores, ledger: { ...ledger, ...workspaces } }
}

/**
 * The tables for all tests of a file: of the embedded DynamoDB and, among the fast tests, whose runs have none, those in
 * memory. So the contracts hold for both.
 */
export function useTables(): () => Pick<StandIns, 'config' | 'dynamoDb'> {
  let tables: Pick<StandIns, 'config' | 'dynamoDb'> & { stop?(): Promise<void> }
  beforeAll(async () => {
    tables = inject('definition') ? await startStandIns() : await createTestStores()
  })
  afterAll(() => tables.stop?.())
  return () => tables
}

/**
 * The adapters on these tables, a clock, and a workspace that they have never seen, new for each test, and what the contracts
 * do with them.
 */
export function useTableStores() {
  const tables = useTables()
  const on = { clock: { nowMs: LEDGER_NOW_MS } } as ReturnType<typeof openTableStores> & {
    clock: { nowMs: number }
    workspaceId: WorkspaceId
  }
  beforeEach(() => {
    on.clock.nowMs = LEDGER_NOW_MS
    Object.assign(on, { ...openTableStores(tables(), () => on.clock.nowMs), workspaceId: newWorkspaceId() })
  })

  const attempt = (change: Partial<TestAttempt> = {}) => newAttempt({ workspaceId: on.workspaceId, ...change })
  /** As nobody has it yet: its size is beyond 32 bits. */
  const document = (change: Partial<WorkspaceDocument> = {}) => {
    const { workspaceId = on.workspaceId, documentId } = change
    const sizeBytes = 5 * 1024 ** 3
    return newDocument(newAttempt({ workspaceId, sizeBytes, ...(documentId && { documentId }) }), change)
  }

  const held = async (change: Partial<TestAttempt> = {}) => {
    const one = attempt(change)
    expect(await on.ledger.hold(one, signal, 0)).toMatchObject({ outcome: 'held' })
    return one
  }
  const begun = async (one = document()) => {
    expect(await on.documents.begin(pendingOf(one), undefined, signal)).toBeUndefined()
    return one
  }

  return Object.assign(on, {
    attempt,
    document,
    async ledgerNow() {
      const found = await on.ledger.read(on.workspaceId, signal)
      if (!found) throw new Error(`${on.workspaceId} has no ledger`)
      return found
    },
    held,
    /** Bytes that are counted, without a hold. */
    async counted(sizeBytes: number) {
      const one = await held({ sizeBytes })
      await on.ledger.capture(one, signal)
      return one
    },
    begun,
    async recorded(change: Partial<WorkspaceDocument> = {}) {
      const one = await begun(document(change))
      expect(await on.documents.record(one, signal)).toBe(true)
      return one
    },
    find: (of: WorkspaceDocument) => on.documents.find(of, signal),
    /** All that a deletion does to a document. */
    async buried(of: WorkspaceDocument, when: { ifExpiredByMs?: number } = {}) {
      const { refundId } = newRefund(of)
      await on.documents.delete(of, { ...when, dueAtMs: LEASE_END_MS }, signal)
      expect(await on.documents.nameRefund(of, { refundId, refundVersion: 9 }, signal)).toBe(refundId)
      await on.documents.bury(of, refundId, signal)
      return refundId
    },
  })
}
