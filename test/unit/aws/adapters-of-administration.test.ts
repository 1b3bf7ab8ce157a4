import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it } from 'vitest'
import { createApiKeyAdministration } from '../../../lib/aws/dynamodb/api-key-administration.ts'
import { createApiKeyStore } from '../../../lib/aws/dynamodb/api-key-store.ts'
import { createWorkspaceAdministration } from '../../../lib/aws/dynamodb/workspace-administration.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { clientOf, conditionFailed, refused } from '../../support/stores/client-of.ts'

const { signal } = new AbortController()
const workspaceId = 'ws_1' as WorkspaceId
const workspace = (quotaBytes: number) =>
  marshall({ workspace_id: 'ws_1', quota_bytes: quotaBytes, remaining_bytes: 5, takings: {}, releases: {}, version: 1 })

describe('an API key', () => {
  it.each([{}, { permissions: 'files:read' }])(
    'whose record was written by hand with %j has no permissions',
    async (by) => {
      const Item = marshall({ key_id: 'k', workspace_id: 'ws_1', kind: 'standard', ...by })
      const { client } = clientOf({ GetItemCommand: () => ({ Item }) })
      const key = await createApiKeyStore({ client, tableName: 'keys' }).find('h', signal)
      expect(key?.permissions).toEqual([])
    },
  )
})

describe('the API keys', () => {
  it('are listed to the last page', async () => {
    const item = { token_hash: 'h', key_id: 'k', workspace_id: 'ws_1', kind: 'standard', created_at: '2026' }
    const LastEvaluatedKey = { token_hash: { S: 'h' } }
    const pages = [{ Items: [marshall(item)], LastEvaluatedKey }, {}]
    const { client, sent } = clientOf({ ScanCommand: () => pages.shift() })
    const found: string[] = []
    const apiKeys = createApiKeyAdministration({ client, tableName: 'keys' })
    for await (const { keyId } of apiKeys.list({}, signal)) found.push(keyId)
    expect(found).toEqual(['k'])
    expect(sent.map(({ input }) => input.ExclusiveStartKey)).toEqual([undefined, LastEvaluatedKey])
  })
})

describe('creating a workspace', () => {
  it('fails when it was there and is gone', async () => {
    const { client } = clientOf({ PutItemCommand: () => conditionFailed(), GetItemCommand: () => ({}) })
    const workspaces = createWorkspaceAdministration({ client, tableName: 'workspaces' })
    await expect(workspaces.create(workspaceId, 10, signal)).rejects.toThrow('ws_1 was there and is gone')
  })
})

describe('setting a quota', () => {
  it('writes nothing where the quota is that already, and gives up when others change it under every try', async () => {
    const { client, names } = clientOf({
      GetItemCommand: () => ({ Item: workspace(20) }),
      UpdateItemCommand: () => conditionFailed(),
    })
    const workspaces = createWorkspaceAdministration({ client, tableName: 'workspaces' })
    expect(await workspaces.setQuota(workspaceId, 20, signal)).toMatchObject({ previousQuotaBytes: 20 })
    expect(names()).toEqual(['GetItemCommand'])
    await expect(workspaces.setQuota(workspaceId, 30, signal)).rejects.toThrow('was changed by others')
    expect(names().length).toBe(1 + 2 * 10)
  })

  it('fails with what the write failed with when the workspace is gone meanwhile', async () => {
    const items = [workspace(10)]
    const { client } = clientOf({
      GetItemCommand: () => ({ Item: items.shift() }),
      UpdateItemCommand: () => refused(400, 'AccessDeniedException'),
    })
    const workspaces = createWorkspaceAdministration({ client, tableName: 'workspaces' })
    await expect(workspaces.setQuota(workspaceId, 20, signal)).rejects.toMatchObject({ call: 'ledger.setQuota' })
  })
})
