import { describe, expect, it } from 'vitest'
import { jsonLines } from '../support/machine/admin.ts'
import { useAdministration } from '../support/machine/use-administration.ts'

const { admin, service, workspaceWithDocument } = useAdministration()

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
