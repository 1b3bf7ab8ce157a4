import { describe, expect, it } from 'vitest'
import { jsonLines } from '../support/local-service/admin.ts'
import { useAdministration } from '../support/local-service/use-administration.ts'

const { admin, service, workspaceWithDocument } = useAdministration()

describe('npm run admin -- documents', () => {
  it('lists, shows and deletes, gives the bytes back, and bears being repeated', async () => {
    const { documentId, keyId, ...workspace } = await workspaceWithDocument('ws_docs')
    const [list, json, shown, unconfirmed] = await Promise.all([
      admin('documents', 'list', 'ws_docs'),
      admin('documents', 'list', 'ws_docs', '--json'),
      admin('documents', 'show', 'ws_docs', documentId),
      admin('documents', 'delete', 'ws_docs', documentId),
    ])
    expect(list.stdout).toMatch(new RegExp(`^${documentId} +1000 B +text/plain +\\S+Z +${keyId} +a.txt$`, 'm'))
    expect(jsonLines(json)).toMatchObject([{ document_id: documentId, size_bytes: 1000, filename: 'a.txt' }])
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('1000 bytes') })
    const question = 'Delete 1 document of ws_docs in this environment?'
    expect(unconfirmed).toEqual({
      code: 2,
      stdout: '',
      stderr: `${question} There is no terminal to ask at: add --yes to do it.\n`,
    })
    expect(await service().stateOf(workspace)).toMatchObject({ documents: 1, usedBytes: 1000 })

    const outcomes = []
    for (let times = 0; times < 2; times++) {
      const deleted = await admin('documents', 'delete', 'ws_docs', documentId, documentId, '--yes', '--json')
      expect([deleted.code, deleted.stderr]).toEqual([0, ''])
      outcomes.push(...jsonLines(deleted).map(({ outcome }) => outcome))
    }
    expect(outcomes).toEqual(['deleted', 'absent'])
    expect(await service().stateOf(workspace)).toMatchObject({
      documents: 0,
      objects: 0,
      usedBytes: 0,
      reservations: 0,
    })
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

  it('deletes a document whose promotion is not settled yet, and gives its bytes back once', async () => {
    const workspace = await workspaceWithDocument('ws_unsettled')
    const { workspaceId, documentId } = workspace
    const signal = AbortSignal.timeout(60_000)
    const document = await service().deps.documents.find(workspaceId, documentId as never, signal)
    if (!document) throw new Error('the document is not there')
    await service().deps.reservations.open({ ...document, leaseExpiresAtMs: Date.now() + 60_000 }, false, signal)
    const deleted = await admin('documents', 'delete', 'ws_unsettled', documentId, '--yes')
    expect(deleted).toMatchObject({ code: 0, stderr: expect.stringContaining('deleted, 1000 bytes given back') })
    expect(await service().stateOf(workspace)).toMatchObject({ documents: 0, usedBytes: 0, reservations: 0 })
  })
})
