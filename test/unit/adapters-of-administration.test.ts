import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it } from 'vitest'
import { createApiKeyAdministration } from '../../lib/aws/api-key-administration.ts'
import { createApiKeyStore } from '../../lib/aws/api-key-store.ts'
import { createTableWorkspaces } from '../../lib/aws/table-workspaces.ts'
import { createWorkspaceAdministration } from '../../lib/aws/workspace-administration.ts'
import { createWorkspaceStores } from '../../lib/aws/workspace-stores.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { clientOf, conditionFailed, refused } from '../support/stores/client-of.ts'

const { signal } = new AbortController()
const workspaceId = 'ws_1' as WorkspaceId
const workspace = (quotaBytes: number) =>
  marshall({ workspace_id: 'ws_1', quota_bytes: quotaBytes, remaining_bytes: 5, takings: {}, releases: {}, version: 1 })

describe('an API key', () => {
  it.each([
    [true, 'enabled'],
    [false, 'disabled'],
  ])('that is enabled: %s is stored as %s', async (isEnabled, status) => {
    const { client, sent } = clientOf({ PutItemCommand: () => ({}) })
    const apiKeys = createApiKeyAdministration({ client, tableName: 'keys' })
    const key = {
      tokenHash: 'h',
      keyId: 'k',
      workspaceId,
      kind: 'standard',
      permissions: [],
      userId: undefined,
    } as const
    await apiKeys.add({ ...key, isEnabled, expiresAtMs: undefined, createdAt: '2026-11-22T00:00:00.000Z' }, signal)
    expect(unmarshall(sent[0]?.input.Item).status).toBe(status)
  })

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
  it('is done with the write that was answered', async () => {
    const { client, names } = clientOf({
      GetItemCommand: () => ({ Item: workspace(10) }),
      UpdateItemCommand: () => ({ Attributes: workspace(20) }),
    })
    const workspaces = createWorkspaceAdministration({ client, tableName: 'workspaces' })
    expect(await workspaces.setQuota(workspaceId, 20, signal)).toMatchObject({ previousQuotaBytes: 10 })
    expect(names()).toEqual(['GetItemCommand', 'UpdateItemCommand'])
  })

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

describe('the workspaces of a table', () => {
  it('do not have one of which DynamoDB answers nothing', async () => {
    const { client } = clientOf({ QueryCommand: () => ({}) })
    const documents = createTableWorkspaces({ client, tableName: 'd', sortKey: 'document_id', name: 'documents' })
    expect(await documents.hasWorkspace(workspaceId, signal)).toBe(false)
  })

  it.each([
    ['reservations', 'reservation_id'],
    ['documents', 'document_id'],
  ] as const)('of %s are continued by its own sort key', async (name, sortKey) => {
    const { client, sent } = clientOf({ ScanCommand: () => ({}) })
    const tables = { workspacesTable: 'w', documentsTable: 'd', reservationsTable: 'r' }
    const keyTemplates = {
      sandbox: 'sandboxes/{workspace_id}/{container_id}/{path}',
      document: 'documents/{workspace_id}/{document_id}/{attempt_id}',
    }
    const config = { ...tables, keyTemplates } as never
    const stores = createWorkspaceStores({ config, dynamoDb: client, s3: client, now: Date.now })
    const found = stores[name].listWorkspaces({ segment: 0, totalSegments: 1, after: workspaceId }, signal)
    for await (const workspace of found) expect.unreachable(workspace)
    expect(Object.keys(sent[0]?.input.ExclusiveStartKey).toSorted()).toEqual([sortKey, 'workspace_id'])
  })
})
