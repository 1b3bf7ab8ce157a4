import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it } from 'vitest'
import { jsonLines } from '../support/machine/admin.ts'
import { TOKEN, useAdministration } from '../support/machine/use-administration.ts'
import type { TestWorkspace } from '../support/protocol/workspaces.ts'

const { admin, adminDenied, service, promote, workspaceWithDocument } = useAdministration()

const plantKey = (key: Record<string, unknown>) => {
  const Item = marshall({ kind: 'standard', status: 'enabled', ...key })
  return service().dynamoDb.send(new PutItemCommand({ TableName: service().config.keysTable, Item }))
}

describe('npm run admin -- keys', () => {
  it('prints a token once; it works at once, and is neither stored nor listed', async () => {
    const create = 'keys create --workspace ws_keys --permission files:promote --expires 90d --yes'
    const created = await admin(...create.split(' '))
    // What KEY=$(npm run -s admin -- keys create …) has.
    const token = created.stdout.trimEnd()
    expect(token).toMatch(new RegExp(`^${TOKEN.source}$`))
    expect(created.code).toBe(0)
    expect(created.stderr).toMatch(
      /^This is the token of key_\w+: standard key of workspace ws_keys with files:promote; enabled/,
    )
    expect(created.stderr).not.toContain(token)
    const workspace = { workspaceId: 'ws_keys', token } as TestWorkspace
    await service().putFile(workspace, 'a.txt', Buffer.alloc(10))
    expect((await promote(workspace)).status).toBe(200)

    const { Items } = await service().dynamoDb.send(new ScanCommand({ TableName: service().config.keysTable }))
    expect(JSON.stringify(Items)).not.toContain(token.slice(4))
    const [all, own] = await Promise.all([
      admin('keys', 'list'),
      admin('keys', 'list', '--workspace', 'ws_keys', '--json'),
    ])
    for (const { stdout } of [all, own]) expect(stdout).not.toMatch(/cfp_|[0-9a-f]{64}/)
    expect(jsonLines(own)).toEqual([
      {
        key_id: expect.stringMatching(/^key_[0-9a-f]{12}$/),
        workspace_id: 'ws_keys',
        kind: 'standard',
        permissions: ['files:promote'],
        status: 'enabled',
        expires_at: expect.stringMatching(/Z$/),
        created_at: expect.stringMatching(/Z$/),
      },
    ])
  })

  it('disables, enables and expires a key, from the next request on', async () => {
    const workspace = await workspaceWithDocument('ws_switch')
    const status = async () => (await promote(workspace)).status
    for (const [args, expected] of [
      [['disable', workspace.keyId, '--yes'], 401],
      [['enable', workspace.keyId], 200],
      [['expire', workspace.keyId, '0s'], 401],
      [['expire', workspace.keyId, 'never'], 200],
    ] as const) {
      expect((await admin('keys', ...args)).code).toBe(0)
      expect(await status(), args.join(' ')).toBe(expected)
    }
  })

  it('rotates a key: the new one works, the old one after its grace no more', async () => {
    const workspace = await workspaceWithDocument('ws_rotate')
    const graceful = await admin('keys', 'rotate', workspace.keyId, '--grace', '24h', '--json')
    const [second, old] = jsonLines(graceful)
    expect(old).toMatchObject({ key_id: workspace.keyId, replaced_by: second?.key_id })
    const renewed = { ...workspace, token: `${second?.token}` }
    expect([(await promote(workspace)).status, (await promote(renewed)).status]).toEqual([200, 200])
    const hard = await admin('keys', 'rotate', `${second?.key_id}`, '--grace', '0')
    expect(hard.code).toBe(0)
    expect((await promote(renewed)).status).toBe(401)
    for (const [keyId, successor] of [
      [workspace.keyId, second?.key_id],
      [second?.key_id, /key_\w+/.exec(hard.stderr)?.[0]],
    ]) {
      const again = await admin('keys', 'rotate', `${keyId}`, '--expires', '1d')
      const stderr = expect.stringContaining(`Key ${keyId} was replaced by ${successor}: rotate that one`)
      expect(again).toEqual({ code: 1, stdout: '', stderr })
    }
    const all = jsonLines(await admin('keys', 'list', '--workspace', 'ws_rotate', '--json'))
    expect(all.map(({ replaced_by }) => replaced_by).filter(Boolean)).toHaveLength(2)
    const [third] = all.filter(({ replaced_by }) => !replaced_by)
    await admin('keys', 'expire', `${third?.key_id}`, '1d')
    const unsaid = await admin('keys', 'rotate', `${third?.key_id}`)
    expect(unsaid).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--expires') })
    await admin('keys', 'expire', `${third?.key_id}`, '0s')
    expect((await admin('keys', 'rotate', `${third?.key_id}`)).stderr).toContain('is expired')
  })

  it('says what stands when the second half of a rotation fails', async () => {
    const workspace = await workspaceWithDocument('ws_half')
    const denied = { operation: 'UpdateItem', message: 'not you' }
    const half = await adminDenied(denied, 'keys', 'rotate', workspace.keyId, '--grace', '0')
    expect(half.code).toBe(2)
    expect(half.stderr).toMatch(
      new RegExp(`\nThe new key key_\\w+ works; .*keys expire ${workspace.keyId} 0s.*not you\n$`),
    )
    const renewed = { ...workspace, token: `${TOKEN.exec(half.stdout)?.[0]}` }
    expect([(await promote(workspace)).status, (await promote(renewed)).status]).toEqual([200, 200])
  })

  it('gives no token out when the key could not be stored', async () => {
    const denied = { operation: 'PutItem', message: 'no' }
    const create = ['keys', 'create', '--workspace', 'ws_1', '--management', '--yes']
    const { code, stdout, stderr } = await adminDenied(denied, ...create)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^AWS refuses this /)
    expect(stderr).not.toContain('cfp_')
  })

  it('touches neither of two keys with the same id', async () => {
    for (const token_hash of ['one', 'two']) {
      await plantKey({ token_hash, key_id: 'key_twin', workspace_id: `ws_${token_hash}` })
    }
    const refused = await admin('keys', 'disable', 'key_twin', '--yes')
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('2 keys have the id key_twin'),
    })
    expect((await admin('keys', 'list', '--workspace', 'ws_one')).stdout).toContain('enabled')
  })
})

describe('npm run admin -- keys change', () => {
  it('gives a key a limit of its own, which the next request has and a rotation keeps, and takes it back', async () => {
    const limited = ['--permission', 'files:read', '--requests-per-minute', '12', '--json']
    const [key] = jsonLines(await admin('keys', 'create', '--workspace', 'ws_limited', '--yes', ...limited))
    const limitOf = async (token: unknown) => {
      const { body } = await service().call('retrieve_key', { token } as TestWorkspace, {})
      return (body as { requests_per_minute: number }).requests_per_minute
    }
    expect([key?.requests_per_minute, await limitOf(key?.token)]).toEqual([12, 12])
    const [rotated] = jsonLines(await admin('keys', 'rotate', `${key?.key_id}`, '--json'))
    expect(await limitOf(rotated?.token)).toBe(12)
    await admin('keys', 'change', `${rotated?.key_id}`, '--requests-per-minute', 'default')
    expect(await limitOf(rotated?.token)).toBe(600)
    for (const wrong of [['--requests-per-minute', '0'], ['--requests-per-minute', '60001'], []]) {
      expect((await admin('keys', 'change', `${rotated?.key_id}`, ...wrong)).code).toBe(2)
    }
  })

  it('gives a key other permissions, from the next request on', async () => {
    const create = ['keys', 'create', '--workspace', 'ws_some', '--yes', '--json']
    const [key] = jsonLines(await admin(...create, '--permission', 'files:read', '--permission', 'containers:read'))
    expect(key?.permissions).toEqual(['files:read', 'containers:read'])
    const workspace = { workspaceId: 'ws_some', token: `${key?.token}` } as TestWorkspace
    await service().putFile(workspace, 'a.txt', Buffer.alloc(10))
    const parameters = { document_id: 'file_1', container_id: 'sess_1' }
    const statuses = async () => {
      const names = ['list_documents', 'list_container_files', 'delete_document'] as const
      const answers = names.map((name) =>
        service().call(name, workspace, name === 'list_documents' ? {} : { parameters }),
      )
      return (await Promise.all(answers)).map(({ status }) => status)
    }
    expect(await statuses()).toEqual([200, 200, 403])
    const changed = await admin('keys', 'change', `${key?.key_id}`, '--permission', 'files:delete')
    expect(changed).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('with files:delete') })
    expect(await statuses()).toEqual([403, 403, 404])
  })

  it('gives no others to a management key, which may do everything anyway', async () => {
    const { keyId } = await workspaceWithDocument('ws_managed')
    const changed = await admin('keys', 'change', keyId, '--permission', 'files:read')
    expect(changed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('management key') })
  })
})

describe('npm run admin -- keys: what is rarely meant', () => {
  it('makes no key for a missing workspace without --yes', async () => {
    const refused = await admin('keys', 'create', '--workspace', 'ws_typo', '--management')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(/^There is no workspace ws_typo .* Make a key for it\? .* add --yes to do it\.\n$/)
    expect((await admin('keys', 'list', '--workspace', 'ws_typo')).stderr).toMatch(/^There are no keys\.\nThere is no /)
  })

  it('asks before it shuts somebody out, and deletes for good when told so', async () => {
    const workspace = await workspaceWithDocument('ws_ended')
    const [disable, remove] = [
      await admin('keys', 'disable', workspace.keyId),
      await admin('keys', 'delete', workspace.keyId),
    ]
    for (const refused of [disable, remove]) {
      expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('add --yes to do it') })
    }
    expect((await promote(workspace)).status).toBe(200)
    const deleted = await admin('keys', 'delete', workspace.keyId, '--yes')
    expect(deleted).toEqual({ code: 0, stdout: '', stderr: `Key ${workspace.keyId} is deleted.\n` })
    expect((await promote(workspace)).status).toBe(401)
    expect((await admin('keys', 'show', workspace.keyId)).stderr).toMatch(/^There is no key key_\w+: "keys list"/)
  })
})
