import { describe, expect, it } from 'vitest'
import { jsonLines } from '../support/machine/admin.ts'
import { useAdministration } from '../support/machine/use-administration.ts'
import type { TestWorkspace } from '../support/protocol/workspaces.ts'

const { admin, service, promote, workspaceWithDocument } = useAdministration()
const promoted = async (workspace: TestWorkspace) => ((await promote(workspace)).body as { id: string }).id

describe('npm run admin -- documents', () => {
  it('lists, shows and deletes, gives the bytes back, and bears being repeated', async () => {
    const { documentId, keyId: _, ...workspace } = await workspaceWithDocument('ws_docs')
    const json = await admin('documents', 'list', 'ws_docs', '--json')
    expect(jsonLines(json)).toMatchObject([{ document_id: documentId, size_bytes: 1000, filename: 'a.txt' }])
    const unconfirmed = await admin('documents', 'delete', 'ws_docs', documentId)
    expect(unconfirmed).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^Delete 1 document of ws_docs/),
    })
    expect(await service().stateOf(workspace)).toMatchObject({ documents: 1, usedBytes: 1000 })

    const outcomes = []
    for (let times = 0; times < 2; times++) {
      const deleted = await admin('documents', 'delete', 'ws_docs', documentId, documentId, '--yes', '--json')
      expect([deleted.code, deleted.stderr]).toEqual([0, ''])
      outcomes.push(...jsonLines(deleted).map(({ outcome }) => outcome))
    }
    expect(outcomes).toEqual(['deleted', 'absent'])
    const nothing = { documents: 0, objects: 0, usedBytes: 0, unfinished: 0 }
    expect(await service().stateOf(workspace)).toMatchObject(nothing)
  })

  it('are compared with the SHA-256 of their objects by audit --sha256', async () => {
    const { workspaceId, documentId } = await workspaceWithDocument('ws_verify')
    const audited = (...options: string[]) => admin('audit', '--workspace', 'ws_verify', ...options)
    expect(await audited('--sha256')).toMatchObject({ code: 0 })
    const { config, deps, s3 } = service()
    const signal = AbortSignal.timeout(60_000)
    const found = await deps.documents.find({ workspaceId, documentId: documentId as never }, signal)
    const [Key = '', sha256] = found?.state === 'ready' ? [found.objectKey, found.sha256] : []
    await s3.putObject({ Bucket: config.documentsBucket, Key, Body: Buffer.alloc(1000, 'y') })
    expect(await audited()).toMatchObject({ code: 0 })
    const wrong = `wrong_sha256: document_id ${documentId}, object_key ${Key}, sha256 ${sha256}, object_sha256 null`
    expect(await audited('--sha256')).toMatchObject({ code: 1, stdout: expect.stringContaining(wrong) })
  })

  it('never reaches a document of another workspace', async () => {
    const [mine, yours] = await Promise.all([workspaceWithDocument('ws_mine'), workspaceWithDocument('ws_yours')])
    const [list, show, remove] = await Promise.all([
      admin('documents', 'list', 'ws_mine'),
      admin('documents', 'show', 'ws_mine', yours.documentId),
      admin('documents', 'delete', 'ws_mine', yours.documentId, '--yes'),
    ])
    expect(list.stdout).toContain(mine.documentId)
    expect(list.stdout).not.toContain(yours.documentId)
    expect(show).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('has no document') })
    expect(remove).toMatchObject({ code: 0, stderr: expect.stringContaining('no such document') })
    expect(await service().stateOf(yours)).toMatchObject({ documents: 1, objects: 1, usedBytes: 1000 })
  })
})

describe('npm run admin -- documents expire', () => {
  it('sets and takes away when documents expire, and names those that are gone: exit code 1', async () => {
    const { documentId, ...workspace } = await workspaceWithDocument('ws_expire')
    const [deleted, kept, other] = [await promoted(workspace), await promoted(workspace), await promoted(workspace)]
    const expire = (...args: string[]) => admin('documents', 'expire', 'ws_expire', ...args)
    await admin('documents', 'delete', 'ws_expire', deleted, '--yes')
    const mixed = await expire(documentId, deleted, other, '--in', '1s', '--json')
    const at = expect.stringMatching(/^20.*:\d\d\.000Z$/)
    const [ofWorkspace, code] = [{ workspace_id: 'ws_expire' }, mixed.code]
    expect([code, jsonLines(mixed)]).toEqual([
      1,
      [
        { ...ofWorkspace, document_id: documentId, outcome: 'set', expires_at: at },
        { ...ofWorkspace, document_id: deleted, outcome: 'absent' },
        { ...ofWorkspace, document_id: other, outcome: 'set', expires_at: at },
      ],
    ])
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(await expire(documentId, '--never')).toEqual({
      code: 1,
      stdout: '',
      stderr: `${documentId}: has expired.\n`,
    })
    const listed = await admin('documents', 'list', 'ws_expire', '--json')
    const isKept = jsonLines(listed).map(({ document_id, expires_at }) => [document_id, expires_at === undefined])
    expect(Object.fromEntries(isKept)).toEqual({ [documentId]: false, [other]: false, [kept]: true })
    expect((await admin('documents', 'show', 'ws_expire', other)).stdout).toMatch(/\nexpired +20/)
  })

  it('is not bound by the longest time of the workspace, but says so', async () => {
    const { documentId } = await workspaceWithDocument('ws_beyond')
    await admin('workspaces', 'set', 'ws_beyond', '--expire-at-most', '1d')
    const expire = (...options: string[]) => admin('documents', 'expire', 'ws_beyond', documentId, ...options)
    const longer = 'That is longer than ws_beyond allows: 1d.\n'
    expect((await expire('--in', '1d')).stderr).toMatch(/^file_\w+: expires 20.*\.\n$/)
    expect((await expire('--in', '25h')).stderr).toMatch(new RegExp(`^${longer}file_\\w+: expires 20.*\\.\n$`))
  })
})
