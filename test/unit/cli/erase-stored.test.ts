import { expect, it, vi } from 'vitest'
import { eraseStored } from '../../../infra/cli/commands/erase-stored.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { clientOf, refused } from '../../support/stores/client-of.ts'

const { signal } = new AbortController()
const workspaceId = 'ws_1' as WorkspaceId
const STRAY = { state: 'stray', dueAtMs: Date.UTC(2030, 0, 2, 3, 4) }
const TOMBSTONES = [{ state: 'gone' }, { state: 'gone' }]
const EMPTY = {}
const SWEPT_MS = Date.UTC(2030, 0, 1)

/** @param pages what is listed: of the documents, then of the sandboxes, and both again */
function prepare(
  pages: object[],
  { read = async () => undefined as unknown, deletes = () => ({}) as object, left = TOMBSTONES as object[] } = {},
) {
  const { client, sent } = clientOf({
    ListMultipartUploadsCommand: () => ({}),
    ListObjectVersionsCommand: () => pages.shift(),
    DeleteObjectCommand: deletes,
  })
  const config = {
    ...{ documentsBucket: 'documents', sandboxBucket: 'sandboxes' },
    keyTemplates: {
      document: 'd/{workspace_id}/{document_id}/{attempt_id}',
      sandbox: '{container_id}/{workspace_id}/{path}',
    },
  }
  const stores = { config, s3: client, now: Date.now, ledger: { read } }
  const output = { done: vi.fn(), progress() {} }
  const session = { output, signal }
  const inputs = (name: string) => sent.filter((each) => each.name === `${name}Command`).map(({ input }) => input)
  const deleted = { workspaceId, keys: 0, documents: 0, left, sweepUntil: new Date(SWEPT_MS) } as never
  return { erasing: () => eraseStored(deleted, stores as never, session as never), output, inputs }
}

it('goes through all pages, deletes versions and delete markers of this workspace, and says what stays', async () => {
  const next = { IsTruncated: true, NextKeyMarker: 'd/ws_1/f/a+%2B', NextVersionIdMarker: 'v1' }
  const { erasing, output, inputs } = prepare([
    { EncodingType: 'url', ...next, Versions: [{ Key: 'd/ws_1/f/a+%2B', VersionId: 'v1', Size: 5 }] },
    { DeleteMarkers: [{ Key: 'd/ws_1/f/+', VersionId: 'v2' }] },
    { Versions: ['c/ws_1/f', 'c/ws_10/f'].map((Key) => ({ Key, VersionId: 'null', Size: 7 })) },
    EMPTY,
    { Versions: [{ Key: 'c/ws_10/f', VersionId: 'null' }] },
  ])
  await erasing()
  const markers = { KeyMarker: 'd/ws_1/f/a +', VersionIdMarker: 'v1' }
  expect(inputs('ListObjectVersions').slice(0, 3)).toMatchObject([{ Prefix: 'd/ws_1/' }, markers, { Prefix: '' }])
  expect(inputs('DeleteObject')).toEqual([
    { Bucket: 'documents', Key: 'd/ws_1/f/a +', VersionId: 'v1' },
    { Bucket: 'documents', Key: 'd/ws_1/f/+', VersionId: 'v2' },
    { Bucket: 'sandboxes', Key: 'c/ws_1/f', VersionId: 'null' },
  ])
  const texts = output.done.mock.calls.map(([text]) => text)
  expect(texts).toEqual([
    'Erased 2 versions of objects (5 bytes) and 0 unfinished uploads in documents.',
    'Erased 1 version of objects (7 bytes) and 0 unfinished uploads in sandboxes.',
    expect.stringMatching(/^Workspace ws_1 is erased.* 2 tombstones will expire by 20/),
  ])
})

it.each<[string, object[], Parameters<typeof prepare>[1], string]>([
  [
    'a container has written meanwhile',
    [EMPTY, EMPTY, EMPTY, { Versions: [{ Key: 'c/ws_1/f', Size: 3 }] }],
    {},
    '1 version of objects (3 bytes)',
  ],
  ['a promotion has made it again', [EMPTY, EMPTY, EMPTY, EMPTY], { read: async () => ({}) }, 'a new workspace'],
  [
    'a copy may still arrive',
    [EMPTY, EMPTY, EMPTY, EMPTY],
    { left: [STRAY] },
    '2030-01-02T03:04:00Z: repeat the command',
  ],
])('is not done when %s', async (_, pages, stores, there) => {
  const { erasing, output } = prepare(pages, stores)
  const message = expect.stringContaining(there)
  await expect(erasing()).rejects.toMatchObject({ reason: 'not_erased', exitCode: 1, message })
  expect(output.done).toHaveBeenCalledTimes(2)
})

it('stops when S3 is in trouble, and takes nothing for erased that it did not delete', async () => {
  const pages = [{ Versions: [{ Key: 'd/ws_1/f/a', Size: 3 }] }]
  const { erasing, output } = prepare(pages, { deletes: () => refused(503, 'ServiceUnavailable') })
  await expect(erasing()).rejects.toMatchObject({ reason: 'service_unavailable' })
  expect(output.done).not.toHaveBeenCalled()
})

it('leaves objects that were made since: their documents may be there, in a workspace that was made anew', async () => {
  const version = (name: string, ms: number) => ({
    Key: `d/ws_1/f/${name}`,
    VersionId: name,
    LastModified: new Date(ms),
  })
  const since = version('since', SWEPT_MS)
  const DeleteMarkers = [version('marker', SWEPT_MS + 1)]
  const pages = [
    { Versions: [version('old', SWEPT_MS - 1), since], DeleteMarkers },
    EMPTY,
    { Versions: [since] },
    EMPTY,
  ]
  const { erasing, inputs } = prepare(pages)
  await expect(erasing()).rejects.toThrow('There is 1 version of objects')
  expect(inputs('DeleteObject').map(({ VersionId }) => VersionId)).toEqual(['old', 'marker'])
})
