import { describe, expect, it } from 'vitest'
import { jsonLines } from '../support/machine/admin.ts'
import { useAdministration } from '../support/machine/use-administration.ts'
import type { AwsCall } from '../support/protocol/fault-proxy.ts'
import type { TestWorkspace } from '../support/protocol/workspaces.ts'

const { admin, adminAsked, adminWhile, service, promote, workspaceWithDocument } = useAdministration()
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
    expect(await shown()).not.toHaveProperty('expire_after_seconds')

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
    expect(await shown()).not.toHaveProperty('expire_at_most_seconds')
    const ofNone = await promoted(workspace)
    const expected = { [documentId]: undefined, [ofDefault]: 2 * HOUR_S, [ofLimit]: 4 * HOUR_S, [ofNone]: undefined }
    expect(await secondsLeft('ws_kept')).toEqual(expected)
    expect(await set('--existing', '--yes')).toMatchObject({ code: 2, stderr: expect.stringContaining('needs a time') })
  })

  it.each([
    ['--expire-after 2h --existing', '--expire-at-most 3h', 'expire_at_most_seconds', 3 * HOUR_S],
    ['--quota 1', '--quota 20GB', 'quota_bytes', 20e9],
  ])('%s undoes nothing of another administrator, who was faster than the answer', async (own, other, field, set) => {
    const id = `ws_two-${field}`
    await workspaceWithDocument(id)
    const line = (args: string) => ['workspaces', 'set', id, ...args.split(' ')]
    const asked = await adminAsked(() => admin(...line(other)), ...line(own))
    expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining('Other requests are changing this') })
    const [shown] = jsonLines(await admin('workspaces', 'show', id, '--json'))
    expect([shown?.[field], shown?.expire_after_seconds]).toEqual([set, undefined])
    expect((await adminAsked(async () => {}, ...line(own))).code).toBe(0)
  })

  const isOfDocuments = ({ headers, body }: AwsCall) =>
    `${headers['x-amz-target']}`.endsWith('.UpdateItem') && `${body}`.includes('document_id')

  it('with --existing gives each document an expiry once, however often it is killed and repeated', async () => {
    const { documentId, ...workspace } = await workspaceWithDocument('ws_killed')
    const ids = [documentId, await promoted(workspace), await promoted(workspace)]
    const [, , gone] = ids
    await admin('documents', 'expire', 'ws_killed', `${gone}`, '--in', '9h')
    const set = ['workspaces', 'set', 'ws_killed', '--expire-after', '2h', '--expire-at-most', '4h', '--existing']
    expect(await admin(...set)).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes to do it') })
    const before = service().snapshot()
    for (let last = 0; last < 3; last++) {
      service().restore(before)
      // The last of them never arrives; those that were sent beside it may.
      let [writes, isDead] = [0, false]
      const killed = await adminWhile((call) => (isDead ||= isOfDocuments(call) && ++writes > last), ...set, '--yes')
      expect([killed.code, isDead], killed.stderr).toEqual([2, true])
      const left = Object.values(await secondsLeft('ws_killed'))
      const changed = left.filter((each) => each === 2 * HOUR_S || each === 4 * HOUR_S).length
      expect(changed).toBeLessThan(3)
      const again = ['workspaces', 'set', 'ws_killed', '--existing', '--yes', '--json']
      const counts = [jsonLines(await admin(...again)).at(-1), jsonLines(await admin(...again)).at(-1)]
      const done = { workspace_id: 'ws_killed', documents: 3, unreadable: 0 }
      expect(counts).toEqual([
        { ...done, changed: 3 - changed },
        { ...done, changed: 0 },
      ])
      expect(await secondsLeft('ws_killed')).toEqual(
        Object.fromEntries(ids.map((id) => [id, id === gone ? 4 * HOUR_S : 2 * HOUR_S])),
      )
    }
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
    const listed = await admin('documents', 'list', 'ws_expire', '--sort', 'expires', '--json')
    expect(jsonLines(listed).map(({ document_id }) => document_id)).toEqual([documentId, other, kept])
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
