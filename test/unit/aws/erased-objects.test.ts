import { expect, it } from 'vitest'
import { createErasedObjects } from '../../../lib/aws/s3/erased-objects.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { CONFIG } from '../../support/dynamodb/memory-tables.ts'
import { clientOf, refused } from '../../support/stores/client-of.ts'

const { signal } = new AbortController()

/** @param pages what is listed of the documents */
function prepare(
  pages: object[],
  answer: (input: { Key: string }) => object | Error = () => ({}),
  uploads: () => object | Error = () => ({}),
) {
  const { client, sent } = clientOf({
    ListMultipartUploadsCommand: uploads,
    ListObjectVersionsCommand: () => pages.shift(),
    DeleteObjectCommand: answer,
  })
  const keyTemplates = { ...CONFIG.keyTemplates, document: 'd/{workspace_id}/{document_id}/{attempt_id}' }
  const { erase } = createErasedObjects({ ...CONFIG, keyTemplates, client })
  const inputs = (name: string) => sent.filter((each) => each.name === `${name}Command`).map(({ input }) => input)
  return { erase: () => erase({ bucket: 'documents', workspaceId: 'ws_1' as WorkspaceId }, signal), inputs }
}

it('goes through all pages, and deletes versions and delete markers; what S3 refuses keeps no other', async () => {
  const next = { IsTruncated: true, NextKeyMarker: 'd/ws_1/f/a+%2B', NextVersionIdMarker: 'v1' }
  const first = { EncodingType: 'url', ...next, Versions: [{ Key: 'd/ws_1/f/a+%2B', VersionId: 'v1' }] }
  const second = {
    Versions: [{ Key: 'd/ws_1/f/b', VersionId: 'null' }],
    DeleteMarkers: [{ Key: 'd/ws_1/f/+', VersionId: 'v2' }],
  }
  const { erase, inputs } = prepare([first, second], ({ Key }) => (Key.endsWith('b') ? refused(403) : {}))
  expect(await erase()).toEqual({ erased: 2, refused: 1, reason: 'AccessDeniedException' })
  const markers = { KeyMarker: 'd/ws_1/f/a +', VersionIdMarker: 'v1' }
  expect(inputs('ListObjectVersions')).toMatchObject([{ Prefix: 'd/ws_1/' }, markers])
  const deleted = inputs('DeleteObject').map(({ Key, VersionId }) => [Key, VersionId])
  expect(deleted).toEqual([
    ['d/ws_1/f/a +', 'v1'],
    ['d/ws_1/f/b', 'null'],
    ['d/ws_1/f/+', 'v2'],
  ])
})

it('stops when S3 is in trouble, and takes nothing for erased that it did not delete', async () => {
  const { erase } = prepare([{ Versions: [{ Key: 'd/ws_1/f/a' }] }], () => refused(503, 'ServiceUnavailable'))
  await expect(erase()).rejects.toMatchObject({ reason: 'service_unavailable' })
})

it('looks at versions, too, where it may not list uploads; after a thousand refusals, the others wait', async () => {
  const page = () => ({
    ...{ IsTruncated: true, NextKeyMarker: 'd/ws_1/f/1' },
    Versions: Array.from({ length: 600 }, (_, i) => ({ Key: `d/ws_1/f/${i}`, VersionId: 'v' })),
  })
  const denied = () => refused(403)
  const { erase, inputs } = prepare([page(), page(), page()], denied, denied)
  expect(await erase()).toEqual({ erased: 0, refused: 1200, isDenied: true, reason: 'AccessDeniedException' })
  expect(inputs('ListObjectVersions')).toHaveLength(2)
})
