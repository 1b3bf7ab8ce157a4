import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it } from 'vitest'
import { keyIdOf } from '../../../lib/auth/api-token.ts'
import { toRecord } from '../../../lib/aws/dynamodb/api-key-store.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { conditionFailed, refused, storesOn } from '../../support/stores/client-of.ts'
import { signal, storedLedger } from '../../support/stores/ledger-values.ts'

const workspaceId = 'ws_1' as WorkspaceId

describe('the record of an API key', () => {
  const RECORD = {
    key_id: keyIdOf('ws_1', 'k'),
    token_hash: 'h',
    workspace_id: 'ws_1',
    kind: 'standard',
    created_at: '2026',
  }
  const readBack = (change: object) => toRecord(marshall({ ...RECORD, ...change }, { removeUndefinedValues: true }))

  it.each([{}, { permissions: 'files:read' }])('written by hand with %j has no permissions', (by) => {
    expect(readBack(by).permissions).toEqual([])
  })

  it.each([
    { key_id: undefined },
    { key_id: 7 },
    { workspace_id: undefined },
    { workspace_id: ['ws_1'] },
    { workspace_id: '../ws_2' },
    { expires_at: '2026-11-22' },
    { requests_per_minute: '60' },
    { requests_per_minute: 0 },
    { token_hash: undefined },
    // In another's partition, it would not be listed, and not go, with the workspace's own.
    { workspace_id: 'ws_2' },
    { kind: 'platform', workspace_id: undefined },
    // A platform key that names a workspace, and a workspace's key that lost it, reach neither.
    { kind: 'platform' },
    { kind: 'Platform', workspace_id: undefined },
  ])('is refused with %j', (change) => {
    expect(() => readBack(change)).toThrow(/API key record/)
  })

  it('is listed, to the last page', async () => {
    const LastEvaluatedKey = { owner_hash: { S: 'o' }, key_id: { S: 'k' } }
    const pages = [{ Items: [marshall(RECORD)], LastEvaluatedKey }, {}]
    const { keyAdministration, sent } = storesOn({ ScanCommand: () => pages.shift() })
    const found = await Array.fromAsync(keyAdministration.list({}, signal))
    expect(found).toMatchObject([{ keyId: RECORD.key_id }])
    expect(sent.map(({ input }) => input.ExclusiveStartKey)).toEqual([undefined, LastEvaluatedKey])
  })
})

const QUOTA = { shown: { quotaBytes: 10 }, to: { quotaBytes: 20 } }

it('a workspace that was there and is gone is created after all', async () => {
  const answers = [conditionFailed(), {}]
  const { workspaces } = storesOn({ PutItemCommand: () => answers.shift(), GetItemCommand: () => ({}) })
  expect(await workspaces.create(workspaceId, { quotaBytes: 10 }, signal)).toMatchObject({ isNew: true })
})

describe('changing a quota', () => {
  it('has succeeded when its answer was lost, and the quota is there', async () => {
    const { workspaces, names } = storesOn({
      UpdateItemCommand: () => Object.assign(new Error('lost'), { name: 'TimeoutError' }),
      GetItemCommand: () => ({ Item: storedLedger({ quota_bytes: 20, remaining_bytes: 13 }) }),
    })
    const ledger = await workspaces.change(workspaceId, QUOTA, signal)
    expect(ledger).toMatchObject({ quotaBytes: 20, usedBytes: 7 })
    expect(names()).toEqual(['UpdateItemCommand', 'GetItemCommand'])
  })

  it('fails with what the write failed with when the workspace is gone meanwhile', async () => {
    const { workspaces } = storesOn({
      GetItemCommand: () => ({}),
      UpdateItemCommand: () => refused(400, 'AccessDeniedException'),
    })
    const setting = workspaces.change(workspaceId, QUOTA, signal)
    await expect(setting).rejects.toMatchObject({ call: 'ledger.change' })
  })
})
