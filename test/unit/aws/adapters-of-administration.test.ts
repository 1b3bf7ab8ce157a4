import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it } from 'vitest'
import { keyIdOf } from '../../../lib/auth/api-token.ts'
import { toRecord } from '../../../lib/aws/dynamodb/api-key-store.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { conditionFailed, refused, storesOn } from '../../support/stores/client-of.ts'
import { signal, storedLedger } from '../../support/stores/ledger-values.ts'

const workspaceId = 'ws_1' as WorkspaceId

describe('the record of an API key', () => {
  const keyId = keyIdOf('ws_1', 'k')
  const RECORD = { key_id: keyId, token_hash: 'h', workspace_id: 'ws_1', kind: 'standard', created_at: '2026' }
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
    expect(found).toMatchObject([{ keyId }])
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
    const UpdateItemCommand = () => refused(400, 'AccessDeniedException')
    const { workspaces } = storesOn({ GetItemCommand: () => ({}), UpdateItemCommand })
    const setting = workspaces.change(workspaceId, QUOTA, signal)
    await expect(setting).rejects.toMatchObject({ call: 'ledger.change' })
  })
})

/** @param pages what is listed of the documents */
function prepareErasure(
  pages: object[],
  answer: (input: { Key: string }) => object | Error = () => ({}),
  uploads: () => object | Error = () => ({}),
) {
  const { erasedObjects, sent } = storesOn({
    ListMultipartUploadsCommand: uploads,
    ListObjectVersionsCommand: () => pages.shift(),
    DeleteObjectCommand: answer,
  })
  const inputs = (name: string) => sent.filter((each) => each.name === `${name}Command`).map(({ input }) => input)
  const documents = { bucket: 'documents', workspaceId } as const
  return { erase: () => erasedObjects.erase(documents, signal), inputs }
}

it('an erasure goes through all pages, and deletes versions and delete markers; what S3 refuses keeps no other', async () => {
  const next = { IsTruncated: true, NextKeyMarker: 'documents/ws_1/f/a+%2B', NextVersionIdMarker: 'v1' }
  const first = { EncodingType: 'url', ...next, Versions: [{ Key: 'documents/ws_1/f/a+%2B', VersionId: 'v1' }] }
  const second = {
    Versions: [{ Key: 'documents/ws_1/f/b', VersionId: 'null' }],
    DeleteMarkers: [{ Key: 'documents/ws_1/f/+', VersionId: 'v2' }],
  }
  const { erase, inputs } = prepareErasure([first, second], ({ Key }) => (Key.endsWith('b') ? refused(403) : {}))
  expect(await erase()).toEqual({ erased: 2, refused: 1, reason: 'AccessDeniedException' })
  const markers = { KeyMarker: 'documents/ws_1/f/a +', VersionIdMarker: 'v1' }
  expect(inputs('ListObjectVersions')).toMatchObject([{ Prefix: 'documents/ws_1/' }, markers])
  const deleted = inputs('DeleteObject').map(({ Key, VersionId }) => [Key, VersionId])
  expect(deleted).toEqual([
    ['documents/ws_1/f/a +', 'v1'],
    ['documents/ws_1/f/b', 'null'],
    ['documents/ws_1/f/+', 'v2'],
  ])
})

it('an erasure stops when S3 is in trouble, and takes nothing for erased that it did not delete', async () => {
  const { erase } = prepareErasure([{ Versions: [{ Key: 'documents/ws_1/f/a' }] }], () =>
    refused(503, 'ServiceUnavailable'),
  )
  await expect(erase()).rejects.toMatchObject({ reason: 'service_unavailable' })
})

it('an erasure looks at versions, too, where it may not list uploads; after a thousand refusals, the others wait', async () => {
  const page = () => ({
    ...{ IsTruncated: true, NextKeyMarker: 'documents/ws_1/f/1' },
    Versions: Array.from({ length: 600 }, (_, i) => ({ Key: `documents/ws_1/f/${i}`, VersionId: 'v' })),
  })
  const denied = () => refused(403)
  const { erase, inputs } = prepareErasure([page(), page(), page()], denied, denied)
  expect(await erase()).toEqual({ erased: 0, refused: 1200, isDenied: true, reason: 'AccessDeniedException' })
  expect(inputs('ListObjectVersions')).toHaveLength(2)
})
