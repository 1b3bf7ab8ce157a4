import { expect, it } from 'vitest'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { refused, storesOn } from '../../support/stores/client-of.ts'

const { signal } = new AbortController()

/** @param pages what is listed of the documents */
function prepare(
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
  const documents = { bucket: 'documents', workspaceId: 'ws_1' as WorkspaceId } as const
  return { erase: () => erasedObjects.erase(documents, signal), inputs }
}

it('goes through all pages, and deletes versions and delete markers; what S3 refuses keeps no other', async () => {
  const next = { IsTruncated: true, NextKeyMarker: 'documents/ws_1/f/a+%2B', NextVersionIdMarker: 'v1' }
  const first = { EncodingType: 'url', ...next, Versions: [{ Key: 'documents/ws_1/f/a+%2B', VersionId: 'v1' }] }
  const second = {
    Versions: [{ Key: 'documents/ws_1/f/b', VersionId: 'null' }],
    DeleteMarkers: [{ Key: 'documents/ws_1/f/+', VersionId: 'v2' }],
  }
  const { erase, inputs } = prepare([first, second], ({ Key }) => (Key.endsWith('b') ? refused(403) : {}))
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

it('stops when S3 is in trouble, and takes nothing for erased that it did not delete', async () => {
  const { erase } = prepare([{ Versions: [{ Key: 'documents/ws_1/f/a' }] }], () => refused(503, 'ServiceUnavailable'))
  await expect(erase()).rejects.toMatchObject({ reason: 'service_unavailable' })
})

it('looks at versions, too, where it may not list uploads; after a thousand refusals, the others wait', async () => {
  const page = () => ({
    ...{ IsTruncated: true, NextKeyMarker: 'documents/ws_1/f/1' },
    Versions: Array.from({ length: 600 }, (_, i) => ({ Key: `documents/ws_1/f/${i}`, VersionId: 'v' })),
  })
  const denied = () => refused(403)
  const { erase, inputs } = prepare([page(), page(), page()], denied, denied)
  expect(await erase()).toEqual({ erased: 0, refused: 1200, isDenied: true, reason: 'AccessDeniedException' })
  expect(inputs('ListObjectVersions')).toHaveLength(2)
})
