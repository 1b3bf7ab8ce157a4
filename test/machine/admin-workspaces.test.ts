import { describe, expect, it, vi } from 'vitest'
import { jsonLines } from '../support/machine/admin.ts'
import { useAdministration } from '../support/machine/use-administration.ts'
import type { TestWorkspace } from '../support/protocol/workspaces.ts'

const MIB = 1024 * 1024
const HOUR_S = 3600
const { admin, adminAsked, service, promote, workspaceWithDocument } = useAdministration()

/** A document's seconds from now until it expires, to the minute; undefined: it never does. */
async function secondsLeft(workspaceId: string): Promise<Record<string, number | undefined>> {
  const listed = jsonLines(await admin('documents', 'list', workspaceId, '--json'))
  const left = (at: unknown) => at && Math.round((Date.parse(`${at}`) - Date.now()) / 60_000) * 60
  return Object.fromEntries(listed.map((each) => [each.document_id, left(each.expires_at)]))
}
const promoted = async (workspace: TestWorkspace) => ((await promote(workspace)).body as { id: string }).id

describe('npm run admin -- workspaces', () => {
  it('changes nothing by creating again', async () => {
    await admin('workspaces', 'create', 'ws_made', '--quota', '2MiB')
    const same = await admin('workspaces', 'create', 'ws_made', '--quota', '2MiB', '--json')
    const bytes = { quota_bytes: 2 * MIB, used_bytes: 0, remaining_bytes: 2 * MIB }
    const usage = { workspace_id: 'ws_made', ...bytes, documents: 0, created_at: expect.stringMatching(/Z$/) }
    const unset = { expire_after_seconds: null, expire_at_most_seconds: null, requests_per_minute: null, label: null }
    const made = { ...usage, ...unset, disabled: false, erasure: null }
    expect([same.code, jsonLines(same)]).toEqual([0, [{ ...made, is_new: false }]])
    const shown = await admin('workspaces', 'show', 'ws_made', '--json')
    expect(jsonLines(shown)).toEqual([{ ...made, under_way: [] }])
  })

  it('sets a quota below what is used: promotions are refused until it is raised again', async () => {
    const workspace = await workspaceWithDocument('ws_lowered')
    const unasked = await admin('workspaces', 'set', 'ws_lowered', '--quota', '10MB')
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('a thousandth of it or less') })
    const lowered = await admin('workspaces', 'set', 'ws_lowered', '--quota', '400', '--yes')
    expect(lowered).toMatchObject({ code: 0, stderr: expect.stringContaining('600 bytes too much') })
    const refused = await promote(workspace)
    expect(refused.status).toBe(403)
    expect(refused.headers).toMatchObject({ 'storage-quota-bytes': '400', 'storage-used-bytes': '1000' })
    const [raised, audited] = await Promise.all([
      admin('workspaces', 'set', 'ws_lowered', '--quota', '2KB', '--json'),
      admin('audit', '--workspace', 'ws_lowered'),
    ])
    const usage = { quota_bytes: 2000, used_bytes: 1000, remaining_bytes: 1000, documents: 1 }
    expect(jsonLines(raised)).toMatchObject([{ workspace_id: 'ws_lowered', ...usage }])
    expect(audited).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing is wrong') })
    expect([(await promote(workspace)).status, (await promote(workspace)).status]).toEqual([200, 403])
  })
})

describe('npm run admin -- workspaces set', () => {
  it('sets the limit of its keys, whether they are refused, and a label, which stays', async () => {
    const { token } = await workspaceWithDocument('ws_plan')
    const key = async () => (await service().call('retrieve_key', { token } as never, {})).body
    const set = (...options: string[]) => admin('workspaces', 'set', 'ws_plan', ...options, '--json')
    expect(jsonLines(await set('--requests-per-minute', '300'))).toMatchObject([{ requests_per_minute: 300 }])
    expect(await key()).toMatchObject({ requests_per_minute: 300 })
    const label = 'ACME Ltd, 0815'
    expect(jsonLines(await set('--disabled', 'yes', '--label', label))).toMatchObject([{ disabled: true, label }])
    expect(await key()).toMatchObject({ error: { metadata: { reason: 'workspace_disabled' } } })
    const opened = jsonLines(await set('--disabled', 'no', '--requests-per-minute', 'default'))
    expect(opened).toMatchObject([{ disabled: false, label, requests_per_minute: null }])
    await vi.waitFor(async () => expect(await key()).toMatchObject({ requests_per_minute: 600 }), 5000)
    expect((await set('--disabled', 'maybe')).code).toBe(2)
  })

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

describe('npm run admin -- workspaces delete', () => {
  it('deletes keys with a workspace that has no documents, as the API does, and asks before', async () => {
    await admin('workspaces', 'create', 'ws_keys')
    await admin('keys', 'create', '--workspace', 'ws_keys', '--management')
    const asked = await admin('workspaces', 'delete', 'ws_keys')
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringMatching(/^Delete workspace ws_keys with its keys in/)])
    const deleted = await admin('workspaces', 'delete', 'ws_keys', '--yes', '--json')
    expect(jsonLines(deleted)).toEqual([{ workspace_id: 'ws_keys', outcome: 'deleted' }])
  })

  it('refuses one with documents, and deletes it once they are deleted', async () => {
    const workspace = await workspaceWithDocument('ws_gone')
    const refused = await admin('workspaces', 'delete', 'ws_gone', '--yes')
    expect(refused).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The workspace has documents: delete them first. Expired ones go within minutes.\n',
    })
    expect((await promote(workspace)).status).toBe(200)
    const ids = jsonLines(await admin('documents', 'list', 'ws_gone', '--json')).map(
      ({ document_id }) => `${document_id}`,
    )
    await admin('documents', 'delete', 'ws_gone', ...ids, '--yes')
    const deleted = await admin('workspaces', 'delete', 'ws_gone', '--yes', '--json')
    expect(deleted.code, deleted.stderr).toBe(0)
    expect((await promote(workspace)).status).toBe(401)
    expect(await admin('workspaces', 'show', 'ws_gone')).toMatchObject({ code: 1 })
    const again = await admin('workspaces', 'delete', 'ws_never', '--yes')
    expect(again).toEqual({ code: 0, stdout: '', stderr: 'There is no workspace ws_never (any more).\n' })
  })
})

it('npm run admin -- workspaces list names records that cannot be read, and goes on: exit code 1', async () => {
  const { config, dynamoDb } = service()
  await admin('workspaces', 'create', 'ws_good')
  const Item = { workspace_id: { S: 'ws_damaged' } }
  await dynamoDb.putItem({ TableName: config.workspacesTable, Item })
  const list = await admin('workspaces', 'list', '--json')
  expect([list.code, jsonLines(list).map(({ workspace_id }) => workspace_id)]).toEqual([
    1,
    expect.arrayContaining(['ws_good']),
  ])
  const message = expect.stringMatching(/^ws_damaged: .* created_at is not a number/)
  expect(JSON.parse(list.stderr).error).toEqual({ reason: 'unreadable', message })
  await dynamoDb.deleteItem({ TableName: config.workspacesTable, Key: { workspace_id: Item.workspace_id } })
})
