import { expect, it } from 'vitest'
import { newApiKeyRecord } from '../../lib/auth/api-key-administration.ts'
import { keyIdOf, newToken } from '../../lib/auth/api-token.ts'
import { createApiKeyAdministration } from '../../lib/aws/dynamodb/api-key-administration.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { jsonLines } from '../support/machine/admin.ts'
import { useAdministration } from '../support/machine/use-administration.ts'
import type { AwsCall } from '../support/protocol/fault-proxy.ts'
import { replaceWaits } from '../support/virtual-waits.ts'

const { admin, adminWhile, service, promote, workspaceWithDocument } = useAdministration()
const ERASE = ['workspaces', 'delete', 'ws_a', '--erase', '--yes', '--json']
/** Containers may call their files so. No XML can name some of these, and no file id others. */
const ODD = ['odd/ä +%2F&<.txt', 'control\u0001.txt', 'link/']

let whileWaiting: (ms: number) => Promise<unknown> = async () => {}
replaceWaits((ms) => whileWaiting(ms))

/** Two workspaces, the id of one being the beginning of the other's. */
async function prepare() {
  const { s3, config } = service()
  const buckets = [config.documentsBucket, config.sandboxBucket]
  const workspaces = [await workspaceWithDocument('ws_a'), await workspaceWithDocument('ws_ab')] as const
  for (const { workspaceId } of workspaces) {
    for (const name of ODD) {
      const Key = `sandboxes/${workspaceId}/sess_2/${name}`
      await s3.putObject({ Bucket: config.sandboxBucket, Key, Body: 'abc' })
    }
    for (const [index, folder] of ['documents', 'sandboxes'].entries()) {
      const upload = { Bucket: buckets[index], Key: `${folder}/${workspaceId}/file_1/a` }
      await s3.createMultipartUpload(upload)
    }
  }
  return workspaces
}

async function stored(): Promise<string[]> {
  const { s3, config } = service()
  const all = [config.documentsBucket, config.sandboxBucket].map(async (Bucket) => {
    const { Contents = [] } = await s3.listObjectsV2({ Bucket })
    const { Uploads = [] } = await s3.listMultipartUploads({ Bucket })
    return [...Contents, ...Uploads].map(({ Key = '' }) => Key)
  })
  return (await Promise.all(all)).flat().filter((key) => key.includes('/ws_a'))
}

it('workspaces delete --erase leaves nothing of a workspace, nor touches one whose id begins like its id', async () => {
  const [own, other] = await prepare()
  const before = await stored()
  const { sandboxBucket, documentsBucket } = service().config
  const unconfirmed = await admin('workspaces', 'delete', 'ws_a', '--erase')
  expect(unconfirmed).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /^Delete workspace ws_a with its 1 key and 1 document, and 1 version of objects .* and 1 unfinished upload in local-documents, 4 versions of objects \(1009 bytes\) and 1 unfinished upload in local-sandboxes, in this environment\?/,
    ),
  })
  expect(await stored()).toEqual(before)

  const waits: unknown[] = []
  whileWaiting = async (ms) => {
    waits.push([ms, (await promote(own)).status])
    const late = { Bucket: documentsBucket, Key: 'documents/ws_a/file_2/a', Body: 'late' }
    await service().s3.putObject(late)
    const { productDynamoDb: client, config } = service()
    const grant = { workspaceId: 'ws_a' as WorkspaceId, kind: 'management', permissions: [], userId: 'user' } as const
    const key = newApiKeyRecord(newToken(keyIdOf('ws_a')), { ...grant, expiresAtMs: undefined }, Date.now())
    await createApiKeyAdministration({ client, tableName: config.keysTable }).add(key, new AbortController().signal)
  }
  const { code, stderr, ...erased } = await admin(...ERASE)
  whileWaiting = async () => {}
  // Its key is gone: all that may come is of requests that began before.
  expect([code, stderr, waits]).toEqual([0, '', [[120_000, 401]]])
  const tombstones = { tombstones: 1, tombstones_expire_at: expect.any(String) }
  expect(jsonLines({ code, stderr, ...erased }).slice(-3)).toEqual([
    // The document's own object went with the document.
    { workspace_id: 'ws_a', bucket: documentsBucket, versions: 1, version_bytes: 4, unfinished_uploads: 1 },
    { workspace_id: 'ws_a', bucket: sandboxBucket, versions: 4, version_bytes: 1009, unfinished_uploads: 1 },
    { workspace_id: 'ws_a', outcome: 'erased', keys: 1, documents: 1, ...tombstones },
  ])
  expect(await stored()).toEqual(before.filter((key) => key.includes('/ws_ab/')))
  expect((await promote(other)).status).toBe(200)
  // Nor is the key left that somebody has made meanwhile.
  expect(jsonLines(await admin('keys', 'list', '--workspace', 'ws_a', '--json'))).toEqual([])

  expect(await service().audit('ws_a' as never, false)).toEqual([])
  expect(await admin('audit', '--workspace', 'ws_a')).toMatchObject({ code: 1, stdout: '' })
  expect(await admin('audit', '--workspace', 'ws_ab')).toMatchObject({ code: 0 })
  expect(jsonLines(await admin(...ERASE)).at(-1)).toMatchObject({ outcome: 'erased', keys: 0, documents: 0 })
})

it('workspaces delete --erase is done where --empty has left nothing, and erases what it has left', async () => {
  const [{ keyId }] = await prepare()
  const others = (await stored()).filter((key) => key.includes('/ws_ab/'))
  for (const workspaceId of ['ws_a', 'ws_none']) {
    await admin('workspaces', 'create', workspaceId)
    expect((await admin('workspaces', 'delete', workspaceId, '--empty', '--yes')).code).toBe(0)
    expect((await admin('keys', 'change', keyId)).code).toBe(1)
    const erased = await admin('workspaces', 'delete', workspaceId, '--erase', '--yes')
    expect(erased).toMatchObject({ code: 0, stdout: '' })
  }
  expect(await stored()).toEqual(others)
})

const isWrite = ({ method, headers }: AwsCall) =>
  method === 'DELETE' || /\.(Put|Update|Delete)Item$/.test(`${headers['x-amz-target']}`)

it('is completed by a repetition, wherever it was killed', async () => {
  await prepare()
  const before = service().snapshot()
  const others = (await stored()).filter((key) => key.includes('/ws_ab/'))
  let isKilled = true
  for (let last = 0; isKilled; last++) {
    service().restore(before)
    // From the death of the process on, none of its calls arrives.
    let [writes, isDead] = [0, false]
    const killed = await adminWhile((call) => (isDead ||= isWrite(call) && ++writes > last), ...ERASE)
    isKilled = isDead
    const repeated = await admin(...ERASE)
    expect([killed.code === 0, repeated], `killed after ${last} writes`).toMatchObject([
      !isDead,
      { code: 0, stderr: '' },
    ])
    expect(await stored()).toEqual(others)
    expect(await service().audit('ws_a' as never, false)).toEqual([])
    if (!isDead) expect(last).toBeGreaterThan(12)
  }
})

it.each(['ListObjectVersions', 'ListMultipartUploads'])('does nothing for those who may not %s', async (denied) => {
  const [workspace] = await prepare()
  const before = await stored()
  const { code, stdout, stderr } = await adminWhile(({ name }) => name === denied, ...ERASE)
  expect([code, stdout, JSON.parse(stderr).error.reason]).toEqual([2, '', 'access_denied'])
  expect(await stored()).toEqual(before)
  expect((await promote(workspace)).status).toBe(200)
})

it('deletes all but what S3 refuses, says so, and goes on when it is repeated', async () => {
  await prepare()
  const isLocked = ({ name, path }: AwsCall) => name === 'DeleteObject' && path.includes('control')
  const result = await adminWhile(isLocked, ...ERASE)
  expect([result.code, JSON.parse(result.stderr).error]).toEqual([
    1,
    {
      reason: 'not_erased',
      message: expect.stringContaining(
        '1 version of objects (3 bytes) and 0 unfinished uploads in local-sandboxes; S3 refuses to delete sandboxes/ws_a/sess_2/control',
      ),
    },
  ])
  expect((await stored()).filter((key) => key.includes('/ws_a/'))).toEqual([`sandboxes/ws_a/sess_2/${ODD[1]}`])
  expect(await admin(...ERASE)).toMatchObject({ code: 0 })
})
