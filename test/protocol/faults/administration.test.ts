import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newApiKeyRecord } from '../../../lib/auth/api-key-administration.ts'
import { newToken } from '../../../lib/auth/api-token.ts'
import { createApiKeyAdministration } from '../../../lib/aws/dynamodb/api-key-administration.ts'
import { createLedger } from '../../../lib/aws/dynamodb/ledger.ts'
import { createLedgerMaintenance } from '../../../lib/aws/dynamodb/ledger-maintenance.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { AwsCall, Fault } from '../../support/protocol/fault-proxy.ts'
import { startTestProcess, type TestProcess } from '../../support/protocol/test-process.ts'
import { createTestStores } from '../../support/protocol/test-stores.ts'
import { newWorkspaceId } from '../../support/stores/ledger-values.ts'

// Never reached, however busy the machine.
const signal = AbortSignal.timeout(900_000)
let process: TestProcess
let workspaceId: WorkspaceId
beforeAll(async () => {
  process = await startTestProcess(await createTestStores())
})
afterAll(() => process.stop())
beforeEach(() => {
  process.restart()
  workspaceId = newWorkspaceId()
})

/** Breaks the first write. */
function breakOnce(fault: Fault): void {
  let isBroken = false
  const isWrite = ({ headers }: AwsCall) => /UpdateItem|PutItem/.test(String(headers['x-amz-target']))
  process.breakCalls((call) => {
    if (isBroken || !isWrite(call)) return undefined
    isBroken = true
    return fault
  })
}

const FAULTS: Fault[] = [
  { kind: 'lose_answer' },
  { kind: 'refuse' },
  { kind: 'hang' },
  { kind: 'late' },
  { kind: 'answer', status: 503 },
]

const QUOTA = { shownBytes: 1000, toBytes: 300 }

describe('administration when the SDK repeats a write', () => {
  const settings = () => ({
    client: process.productDynamoDb,
    tableName: process.config.workspacesTable,
    defaultQuotaBytes: 1000,
    now: Date.now,
  })
  const read = () => createLedger(settings()).read(workspaceId, signal)

  it.each(FAULTS)('creates a workspace once: $kind', async (fault) => {
    breakOnce(fault)
    const created = await createLedgerMaintenance(settings()).create(workspaceId, 500, signal)
    const made = await read()
    await process.deliverLate()
    expect(created.usage).toEqual({ quotaBytes: 500, usedBytes: 0 })
    expect(made).toMatchObject({ usedBytes: 0, takings: [], releases: [] })
    expect(await read()).toEqual(made)
  })

  it('sets a quota whose answer was lost once, and says so', async () => {
    const workspaces = createLedgerMaintenance(settings())
    await workspaces.correct(workspaceId, { usedBytes: 0, expectedBytes: 600 }, signal)
    const before = await read()
    breakOnce({ kind: 'lose_answer' })
    expect(await workspaces.setQuota(workspaceId, QUOTA, signal)).toEqual({ quotaBytes: 300, usedBytes: 600 })
    const after = await read()
    expect(after).toMatchObject({ quotaBytes: 300, usedBytes: 600, version: (before?.version ?? 0) + 1 })
  })

  it.each(FAULTS.slice(1))('does not set a quota again when the first call may still arrive: $kind', async (fault) => {
    const workspaces = createLedgerMaintenance(settings())
    await workspaces.correct(workspaceId, { usedBytes: 0, expectedBytes: 600 }, signal)
    process.takeCalls()
    breakOnce(fault)
    await expect(workspaces.setQuota(workspaceId, QUOTA, signal)).rejects.toMatchObject({
      reason: 'service_unavailable',
    })
    expect(process.takeCallNames().filter((name) => name === 'ledger.setQuota')).toHaveLength(1)
    await process.deliverLate()
    const quotaBytes = fault.kind === 'late' ? 300 : 1000
    expect(await read()).toMatchObject({ quotaBytes, usedBytes: 600 })
  })

  it.each(FAULTS)('adds an API key once, and a late repetition does not enable it again: $kind', async (fault) => {
    const keys = createApiKeyAdministration({ client: process.productDynamoDb, tableName: process.config.keysTable })
    const grant = { workspaceId, kind: 'standard', permissions: [], userId: undefined, expiresAtMs: undefined } as const
    const key = newApiKeyRecord(newToken(), grant, Date.now())
    breakOnce(fault)
    await keys.add(key, signal)
    await keys.change(key.tokenHash, { isEnabled: false }, signal)
    await process.deliverLate()
    const stored = []
    for await (const each of keys.list({ workspaceId }, signal)) stored.push(each)
    expect(stored).toEqual([{ ...key, isEnabled: false }])
  })
})
