import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import { jsonLines } from '../support/machine/admin.ts'
import { TOKEN, useAdministration } from '../support/machine/use-administration.ts'
import type { TestWorkspace } from '../support/protocol/workspaces.ts'

const { admin, adminWhile, service, promote, workspaceWithDocument } = useAdministration()

describe('npm run admin -- keys', () => {
  it('prints a token once; it works at once, and is neither stored nor listed', async () => {
    const create = 'keys create --workspace ws_keys --permission files:promote --expires 90d --yes'
    const created = await admin(...create.split(' '))
    // KEY=$(npm run -s admin -- keys create …) has this.
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
    expect(JSON.stringify(Items)).not.toContain(token.slice(32))
    const [all, own] = await Promise.all([
      admin('keys', 'list'),
      admin('keys', 'list', '--workspace', 'ws_keys', '--json'),
    ])
    for (const { stdout } of [all, own]) expect(stdout).not.toMatch(/cfp_|[0-9a-f]{64}/)
    expect(jsonLines(own)).toEqual([
      {
        key_id: expect.stringMatching(/^key_[0-9A-Za-z]{28}$/),
        workspace_id: 'ws_keys',
        kind: 'standard',
        permissions: ['files:promote'],
        name: null,
        user_id: null,
        disabled: false,
        requests_per_minute: null,
        expires_at: expect.stringMatching(/Z$/),
        created_at: expect.stringMatching(/Z$/),
        former_tokens_end_at: null,
      },
    ])
  })

  it('disables, enables and expires a key, from the next request on', async () => {
    const workspace = await workspaceWithDocument('ws_switch')
    const status = async () => (await promote(workspace)).status
    for (const [args, expected] of [
      [['--disable', '--yes'], 401],
      [['--enable'], 200],
      [['--expires', '0s'], 401],
      [['--expires', 'never'], 200],
      [['--expires', '2099-01-31'], 200],
    ] as const) {
      expect((await admin('keys', 'change', workspace.keyId, ...args)).code).toBe(0)
      expect(await status(), args.join(' ')).toBe(expected)
    }
  })

  it('rotates a key: its new token works, the former one after its grace no more', async () => {
    const workspace = await workspaceWithDocument('ws_rotate')
    const [renewed] = jsonLines(await admin('keys', 'rotate', workspace.keyId, '--grace', '24h', '--json'))
    expect(renewed).toMatchObject({ key_id: workspace.keyId, former_tokens_end_at: expect.stringMatching(/Z$/) })
    const second = { ...workspace, token: `${renewed?.token}` }
    const statuses = async () => [(await promote(workspace)).status, (await promote(second)).status]
    expect(await statuses()).toEqual([200, 200])
    const hard = await admin('keys', 'rotate', workspace.keyId, '--grace', '0')
    expect([hard.code, await statuses()]).toEqual([0, [401, 401]])
    expect((await promote({ ...workspace, token: hard.stdout.trim() })).status).toBe(200)
    expect(hard.stderr).not.toContain('former')
    expect(jsonLines(await admin('keys', 'list', '--workspace', 'ws_rotate', '--json'))).toHaveLength(1)
    const ended = await admin('keys', 'rotate', workspace.keyId, '--expires', '0s')
    expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining('; expired 20')])
  })

  it('makes a key with a name again, with another token, and tells its former tokens how long they have', async () => {
    const create = ['keys', 'create', '--workspace', 'ws_named', '--management', '--name', 'ci', '--yes', '--json']
    const [first] = jsonLines(await admin(...create))
    const [again] = jsonLines(await admin(...create, '--grace', '1h'))
    expect([again?.key_id, again?.name]).toEqual([first?.key_id, 'ci'])
    const status = async (key: typeof first) => {
      return (await service().call('retrieve_key', { token: key?.token } as TestWorkspace, {})).status
    }
    expect([await status(first), await status(again)]).toEqual([200, 200])
    const [last] = jsonLines(await admin(...create))
    expect([await status(first), await status(again), await status(last)]).toEqual([401, 401, 200])
    const wrong = await admin('keys', 'create', '--workspace', 'ws_named', '--management', '--name', 'c.i')
    expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('not a name of a key') })
  })

  it('makes a platform key, which must end within a year, and rights or a workspace it takes none', async () => {
    const create = ['keys', 'create', '--platform', '--expires']
    const { stdout, stderr } = await admin(...create, '30d')
    expect(stderr).toMatch(/^This is the token of key_0{11}\w{17}: platform key for all workspaces; enabled/)
    const [keyId = ''] = /key_\w+/.exec(stderr) ?? []
    const platform = { token: stdout.trim() } as TestWorkspace
    const parameters = { workspace_id: 'ws_by_platform' }
    expect((await service().call('save_workspace', platform, { parameters, body: {} })).status).toBe(200)
    expect((await service().call('list_documents', platform, {})).status).toBe(403)
    const erasing = await admin(...create, '30d', '--may-erase', '--json')
    expect(jsonLines(erasing)).toMatchObject([{ kind: 'platform', permissions: ['workspaces:erase'] }])
    const eraser = { token: `${jsonLines(erasing)[0]?.token}` } as TestWorkspace
    const erase = (key: TestWorkspace) => service().call('save_erasure', key, { parameters, body: {} })
    expect([(await erase(platform)).status, (await erase(eraser)).status]).toEqual([403, 200])
    expect((await admin('keys', 'change', `${jsonLines(erasing)[0]?.key_id}`)).stderr).toMatch(
      /^key_0{11}\w{17}: platform key for all workspaces, with workspaces:erase; enabled/,
    )
    expect((await admin('keys', 'list')).stdout).toMatch(/ platform +workspaces:erase /)
    for (const wrong of [
      [...create, 'never'],
      ['keys', 'create', '--may-erase', '--workspace', 'ws_1', '--expires', '30d'],
      [...create, '30d', '--may-erase', '--management'],
      [...create, '400d'],
      ['keys', 'create', '--platform'],
      [...create, '30d', '--management'],
      [...create, '30d', '--permission', 'files:read'],
      [...create, '30d', '--workspace', 'ws_1'],
      ['keys', 'create', '--management'],
      ['keys', 'change', keyId, '--expires', 'never'],
      ['keys', 'change', keyId, '--permission', 'files:read'],
      ['keys', 'rotate', keyId, '--expires', '400d'],
    ]) {
      expect(await admin(...wrong), wrong.join(' ')).toMatchObject({ code: 2, stdout: '' })
    }
  })

  it('gives no token out when the key could not be stored', async () => {
    const create = ['keys', 'create', '--workspace', 'ws_1', '--management', '--yes']
    const { code, stdout, stderr } = await adminWhile(({ name }) => name === 'keys.add', ...create)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^AWS refuses this /)
    expect(stderr).not.toContain('cfp_')
  })
})

describe('npm run admin -- keys change', () => {
  it('gives a key a limit of its own, which the next request has and a rotation keeps, and takes it back', async () => {
    const limited = ['--permission', 'files:read', '--requests-per-minute', '30', '--json']
    const [key] = jsonLines(await admin('keys', 'create', '--workspace', 'ws_limited', '--yes', ...limited))
    const limitOf = async (token: unknown) => {
      const { body } = await service().call('retrieve_key', { token } as TestWorkspace, {})
      return (body as { requests_per_minute: number }).requests_per_minute
    }
    expect([key?.requests_per_minute, await limitOf(key?.token)]).toEqual([30, 30])
    const [rotated] = jsonLines(await admin('keys', 'rotate', `${key?.key_id}`, '--json'))
    expect(await limitOf(rotated?.token)).toBe(30)
    await admin('keys', 'change', `${rotated?.key_id}`, '--requests-per-minute', 'default')
    expect(await limitOf(rotated?.token)).toBe(600)
    for (const wrong of ['0', '60001'])
      expect((await admin('keys', 'change', `${rotated?.key_id}`, '--requests-per-minute', wrong)).code).toBe(2)
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
    for (const start of [['keys', 'change', `${key?.key_id}`], create]) {
      const refused = { code: 2, stderr: expect.stringMatching(/A (standard )?key needs /) }
      expect(await admin(...start, '--permission', 'none')).toMatchObject(refused)
    }
  })

  it('gives no others to a management key, which may do everything anyway', async () => {
    const { keyId } = await workspaceWithDocument('ws_managed')
    const changed = await admin('keys', 'change', keyId, '--permission', 'files:read')
    expect(changed).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('management key') })
  })
})

describe('npm run admin -- keys: what is rarely meant', () => {
  it('makes no key for a missing workspace without --yes', async () => {
    const refused = await admin('keys', 'create', '--workspace', 'ws_typo', '--management')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(
      /^There is no workspace ws_typo\. Make it, with the default quota\? .* add --yes to do it\.\n$/,
    )
    expect((await admin('keys', 'list', '--workspace', 'ws_typo')).stderr).toMatch(/^There are no keys\.\nThere is no /)
  })

  it('asks before it shuts somebody out, and deletes for good when told so', async () => {
    const workspace = await workspaceWithDocument('ws_ended')
    const [disable, remove] = [
      await admin('keys', 'change', workspace.keyId, '--disable'),
      await admin('keys', 'delete', workspace.keyId),
    ]
    for (const refused of [disable, remove]) {
      expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('add --yes to do it') })
    }
    expect((await promote(workspace)).status).toBe(200)
    const deleted = await admin('keys', 'delete', workspace.keyId, '--yes')
    expect(deleted).toEqual({ code: 0, stdout: '', stderr: `Key ${workspace.keyId} is deleted.\n` })
    expect((await promote(workspace)).status).toBe(401)
    expect((await admin('keys', 'change', workspace.keyId)).stderr).toMatch(/^There is no key key_\w+: "keys list"/)
  })
})
