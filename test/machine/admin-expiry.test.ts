import { describe, expect, it } from 'vitest'
import { jsonLines } from '../support/machine/admin.ts'
import { useAdministration } from '../support/machine/use-administration.ts'
import type { TestWorkspace } from '../support/protocol/workspaces.ts'

const { admin, adminAsked, promote, workspaceWithDocument } = useAdministration()
const HOUR_S = 3600

/** A document's seconds from now until it expires, to the minute; undefined: it never does. */
async function secondsLeft(workspaceId: string): Promise<Record<string, number | undefined>> {
  const listed = jsonLines(await admin('documents', 'list', workspaceId, '--json'))
  const left = (at: unknown) => at && Math.round((Date.parse(`${at}`) - Date.now()) / 60_000) * 60
  return Object.fromEntries(listed.map((each) => [each.document_id, left(each.expires_at)]))
}
const promoted = async (workspace: TestWorkspace) => ((await promote(workspace)).body as { id: string }).id

describe('npm run admin -- workspaces set', () => {
  it('changes what is given, for new documents only, and refuses a default above the longest time', async () => {
    const { documentId, ...workspace } = await workspaceWithDocument('ws_kept')
    const set = (...options: string[]) => admin('workspaces', 'set', 'ws_kept', ...options, '--json')
    const shown = async () => jsonLines(await admin('workspaces', 'show', 'ws_kept', '--json'))[0]
    expect(await shown()).toMatchObject({ expire_after_seconds: null })

    const both = { expire_after_seconds: 2 * HOUR_S, expire_at_most_seconds: 4 * HOUR_S }
    expect(jsonLines(await set('--expire-after', '2h', '--expire-at-most', '4h'))).toMatchObject([both])
    const ofDefault = await promoted(workspace)
    expect(await set('--expire-at-most', '1h')).toMatchObject({ code: 2, stdout: '' })
    expect(await set('--expire-after', '5h')).toMatchObject({ code: 2, stdout: '' })
    expect(await shown()).toMatchObject(both)
    await set('--expire-after', 'never')
    expect(await shown()).toMatchObject({ expire_at_most_seconds: 4 * HOUR_S })
    const ofLimit = await promoted(workspace)
    await set('--expire-at-most', 'never')
    expect(await shown()).toMatchObject({ expire_at_most_seconds: null })
    const ofNone = await promoted(workspace)
    const expected = { [documentId]: undefined, [ofDefault]: 2 * HOUR_S, [ofLimit]: 4 * HOUR_S, [ofNone]: undefined }
    expect(await secondsLeft('ws_kept')).toEqual(expected)
  })

  it('undoes nothing of another administrator, who was faster than the answer', async () => {
    await workspaceWithDocument('ws_two')
    const set = (quota: string) => ['workspaces', 'set', 'ws_two', '--quota', quota]
    const asked = await adminAsked(() => admin(...set('20GB')), ...set('1'))
    expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining('Other requests are changing this') })
    const [shown] = jsonLines(await admin('workspaces', 'show', 'ws_two', '--json'))
    expect(shown?.quota_bytes).toBe(20e9)
    expect((await adminAsked(async () => {}, ...set('1'))).code).toBe(0)
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
