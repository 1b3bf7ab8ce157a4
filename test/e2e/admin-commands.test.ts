import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { type AdminResult, jsonLines, runAdmin } from '../support/admin.ts'
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts'
import { startTestProcess, type TestProcess } from '../support/faults/test-process.ts'
import { createTestStores } from '../support/faults/test-stores.ts'
import type { TestWorkspace } from '../support/faults/workspaces.ts'

// Processes are slow to start on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const MIB = 1024 * 1024
const TOKEN = /cfp_[0-9A-Za-z]{49}/
let service: TestProcess
let proxy: FaultProxy
let s3: FaultProxy

beforeAll(async () => {
  service = await startTestProcess(await createTestStores())
  proxy = await startFaultProxy(service.stores.dynamoDb)
  s3 = await startFaultProxy(service.stores.s3)
})
afterAll(() => Promise.all([proxy.stop(), s3.stop(), service.stop()]))

function admin(...args: string[]): Promise<AdminResult> {
  return runAdmin(args, {
    ...inject('definition').environment,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint,
    AWS_ENDPOINT_URL_S3: s3.endpoint,
  })
}
const promote = (workspace: TestWorkspace, path = 'a.txt') => service.promote(workspace, path)

async function promoted(workspace: TestWorkspace): Promise<string> {
  const { body } = await promote(workspace)
  return (body as { id: string }).id
}

/** A workspace with a key from the command line and one document. */
async function workspaceWithDocument(workspaceId: string) {
  const [key] = jsonLines(await admin('keys', 'create', '--workspace', workspaceId, '--management', '--yes', '--json'))
  const workspace = { workspaceId, token: key?.token } as TestWorkspace
  await service.putFile(workspace, 'a.txt', Buffer.alloc(1000))
  return { ...workspace, documentId: await promoted(workspace), keyId: `${key?.key_id}` }
}

describe('npm run admin -- workspaces', () => {
  it('creates once, changes nothing by creating again, shows and lists', async () => {
    const created = await admin('workspaces', 'create', 'ws_made', '--quota', '2MiB')
    expect(created).toEqual({ code: 0, stdout: '', stderr: expect.stringContaining('quota of 2 MiB (2097152 bytes)') })
    const [same, other, shown, list] = await Promise.all([
      admin('workspaces', 'create', 'ws_made', '--quota', '2MiB', '--json'),
      admin('workspaces', 'create', 'ws_made', '--quota', '3MiB'),
      admin('workspaces', 'show', 'ws_made', '--count', '--json'),
      admin('workspaces', 'list'),
    ])
    const usage = { workspace_id: 'ws_made', quota_bytes: 2 * MIB, used_bytes: 0, remaining_bytes: 2 * MIB }
    expect([same.code, jsonLines(same)]).toEqual([0, [{ ...usage, is_new: false }]])
    expect(other).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('2 MiB (2097152 bytes)') })
    expect(jsonLines(shown)).toEqual([{ ...usage, documents: 0, reservations: [] }])
    expect(list.stdout).toMatch(/^WORKSPACE +QUOTA +USED +REMAINING$/m)
    expect(list.stdout).toMatch(/^ws_made +2 MiB +0 B +2 MiB$/m)
  })

  it('sets a quota below what is used: promotions are refused until it is raised again', async () => {
    const workspace = await workspaceWithDocument('ws_lowered')
    const unasked = await admin('workspaces', 'set-quota', 'ws_lowered', '400')
    expect(unasked).toMatchObject({ code: 2, stdout: '' })
    expect(unasked.stderr).toBe(
      'The quota of ws_lowered in this environment goes from 10 GiB (10737418240 bytes) to 400 bytes, below the 1000 bytes that are used. Set it? Nobody is there to answer: add --yes to do it.\n',
    )
    expect((await admin('workspaces', 'set-quota', 'ws_lowered', '10MB')).stderr).toContain(
      'a thousandth of it or less',
    )
    const lowered = await admin('workspaces', 'set-quota', 'ws_lowered', '400', '--yes')
    expect(lowered).toMatchObject({ code: 0, stderr: expect.stringContaining('600 bytes too much') })
    const refused = await promote(workspace)
    expect(refused.status).toBe(403)
    expect(refused.headers).toMatchObject({ 'storage-quota-bytes': '400', 'storage-used-bytes': '1000' })
    const [raised, audited] = await Promise.all([
      admin('workspaces', 'set-quota', 'ws_lowered', '2KB', '--json'),
      admin('audit', '--workspace', 'ws_lowered'),
    ])
    expect(jsonLines(raised)).toEqual([
      {
        workspace_id: 'ws_lowered',
        quota_bytes: 2000,
        used_bytes: 1000,
        remaining_bytes: 1000,
        previous_quota_bytes: 400,
      },
    ])
    expect(audited).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing is wrong') })
    expect([(await promote(workspace)).status, (await promote(workspace)).status]).toEqual([200, 403])
  })
})

describe('npm run admin -- keys', () => {
  it('prints a token once; it works at once, and is neither stored nor listed', async () => {
    const created = await admin(
      'keys',
      'create',
      '--workspace',
      'ws_keys',
      '--permission',
      'files:promote',
      '--expires',
      '90d',
      '--yes',
    )
    // What KEY=$(npm run -s admin -- keys create …) has.
    const token = created.stdout.trimEnd()
    expect(token).toMatch(new RegExp(`^${TOKEN.source}$`))
    expect(created.code).toBe(0)
    expect(created.stderr).toMatch(
      /^This is the token of key_\w+: standard key of workspace ws_keys with files:promote; enabled/,
    )
    expect(created.stderr).not.toContain(token)
    const workspace = { workspaceId: 'ws_keys', token } as TestWorkspace
    await service.putFile(workspace, 'a.txt', Buffer.alloc(10))
    expect((await promote(workspace)).status).toBe(200)

    const { Items } = await service.dynamoDb.send(new ScanCommand({ TableName: service.config.keysTable }))
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
      [['expire', workspace.keyId, '--in', '0'], 401],
      [['expire', workspace.keyId, '--never'], 200],
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
    const [unsaid, hard] = [
      await admin('keys', 'rotate', workspace.keyId),
      await admin('keys', 'rotate', `${second?.key_id}`, '--grace', '0'),
    ]
    expect(unsaid).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--expires') })
    expect(hard.code).toBe(0)
    expect((await promote(renewed)).status).toBe(401)
    expect((await admin('keys', 'rotate', `${second?.key_id}`)).stderr).toContain('is expired')
  })

  it('says what stands when the second half of a rotation fails', async () => {
    const workspace = await workspaceWithDocument('ws_half')
    const body = JSON.stringify({
      __type: 'com.amazonaws.dynamodb.v20120810#AccessDeniedException',
      Message: 'not you',
    })
    proxy.fault = ({ headers }) =>
      String(headers['x-amz-target']).endsWith('UpdateItem') ? { kind: 'answer', status: 400, body } : undefined
    const half = await admin('keys', 'rotate', workspace.keyId, '--grace', '0')
    proxy.fault = () => undefined
    expect(half.code).toBe(2)
    expect(half.stderr).toMatch(
      new RegExp(`\nThe new key key_\\w+ works; .*keys expire ${workspace.keyId} --in 0.*not you\n$`),
    )
    const renewed = { ...workspace, token: `${TOKEN.exec(half.stdout)?.[0]}` }
    expect([(await promote(workspace)).status, (await promote(renewed)).status]).toEqual([200, 200])
  })

  it('gives no token out when the key could not be stored', async () => {
    const body = JSON.stringify({ __type: 'com.amazonaws.dynamodb.v20120810#AccessDeniedException', Message: 'no' })
    proxy.fault = ({ headers }) =>
      String(headers['x-amz-target']).endsWith('PutItem') ? { kind: 'answer', status: 400, body } : undefined
    const { code, stdout, stderr } = await admin('keys', 'create', '--workspace', 'ws_1', '--management', '--yes')
    proxy.fault = () => undefined
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/No key was given out/)
    expect(stderr).not.toContain('cfp_')
  })

  it('touches neither of two keys with the same id', async () => {
    for (const token_hash of ['one', 'two']) {
      const key = {
        token_hash,
        key_id: 'key_twin',
        workspace_id: `ws_${token_hash}`,
        kind: 'standard',
        status: 'enabled',
      }
      await service.dynamoDb.send(new PutItemCommand({ TableName: service.config.keysTable, Item: marshall(key) }))
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

describe('npm run admin -- keys: what is rarely meant', () => {
  it('makes no key for a workspace that is not there, unless it is said', async () => {
    const refused = await admin('keys', 'create', '--workspace', 'ws_typo', '--management')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(/^There is no workspace ws_typo .* Make a key for it\? .* add --yes to do it\.\n$/)
    expect((await admin('keys', 'list', '--workspace', 'ws_typo')).stderr).toBe('There are no keys.\n')
  })

  it('warns of a key that may do nothing', async () => {
    const made = await admin('keys', 'create', '--workspace', 'ws_nothing', '--yes')
    expect(made.stderr).toContain('This key may do nothing')
    expect(made.stdout).toMatch(new RegExp(`^${TOKEN.source}\n$`))
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
    expect((await admin('keys', 'show', workspace.keyId)).stderr).toBe(`There is no key ${workspace.keyId}.\n`)
  })
})

describe('npm run admin -- workspaces delete', () => {
  it('refuses what is not empty; with --empty it deletes keys, documents and the workspace', async () => {
    const workspace = await workspaceWithDocument('ws_gone')
    const refused = await admin('workspaces', 'delete', 'ws_gone', '--yes')
    expect(refused).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Workspace ws_gone has 1 key and 1 document: delete them first, or add --empty.\n',
    })
    expect((await admin('workspaces', 'delete', 'ws_gone', '--empty')).code).toBe(2)
    expect((await promote(workspace)).status).toBe(200)
    const deleted = await admin('workspaces', 'delete', 'ws_gone', '--empty', '--yes', '--json')
    expect(deleted.code, deleted.stderr).toBe(0)
    expect(jsonLines(deleted).at(-1)).toEqual({ workspace_id: 'ws_gone', outcome: 'deleted', keys: 1, documents: 2 })
    expect((await promote(workspace)).status).toBe(401)
    expect(await admin('workspaces', 'show', 'ws_gone')).toMatchObject({ code: 1 })
    expect(await admin('workspaces', 'delete', 'ws_gone', '--yes')).toMatchObject({ code: 1, stdout: '' })
  })

  it('keeps the workspace while a reservation is left, even one without bytes: the resolver needs it', async () => {
    const { workspaceId, documentId, token } = await workspaceWithDocument('ws_watched')
    const signal = AbortSignal.timeout(60_000)
    const document = await service.deps.documents.find(workspaceId, documentId as never, signal)
    if (!document) throw new Error('the document is not there')
    const reservation = { ...document, leaseExpiresAtMs: Date.now() + 60_000 }
    await service.deps.reservations.watch(reservation, signal)
    const busy = await admin('workspaces', 'delete', 'ws_watched', '--empty', '--yes')
    expect(busy).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('emptied but not deleted') })
    expect(await service.stateOf({ workspaceId, token })).toMatchObject({ documents: 0, usedBytes: 0 })
    await service.deps.reservations.removeWatch(reservation, signal)
    expect(await admin('workspaces', 'delete', 'ws_watched', '--yes')).toMatchObject({ code: 0 })
  })
})

describe('npm run admin -- … list', () => {
  it('sorts by what a column stands for, and ends at the limit', async () => {
    for (const [id, quota] of [
      ['ws_l1', '900KiB'],
      ['ws_l2', '2MiB'],
      ['ws_l3', '10B'],
    ]) {
      await admin('workspaces', 'create', `${id}`, '--quota', `${quota}`)
    }
    const [up, down, wrong] = await Promise.all([
      admin('workspaces', 'list', '--sort', 'quota', '--limit', '1', '--json'),
      admin('workspaces', 'list', '--sort', '-quota', '--json'),
      admin('workspaces', 'list', '--sort', 'colour'),
    ])
    expect(jsonLines(up)).toMatchObject([{ workspace_id: 'ws_l3' }])
    const ids = jsonLines(down).map(({ workspace_id }) => workspace_id)
    expect(ids.filter((id) => /^ws_l\d$/.test(`${id}`))).toEqual(['ws_l2', 'ws_l1', 'ws_l3'])
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('the columns are workspace, quota, used') })
  })
})

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
      stderr: `${question} Nobody is there to answer: add --yes to do it.\n`,
    })
    expect(await service.stateOf(workspace)).toMatchObject({ documents: 1, usedBytes: 1000 })

    const outcomes = []
    for (let times = 0; times < 2; times++) {
      const deleted = await admin('documents', 'delete', 'ws_docs', documentId, documentId, '--yes', '--json')
      expect([deleted.code, deleted.stderr]).toEqual([0, ''])
      outcomes.push(...jsonLines(deleted).map(({ outcome }) => outcome))
    }
    expect(outcomes).toEqual(['deleted', 'absent'])
    expect(await service.stateOf(workspace)).toMatchObject({ documents: 0, objects: 0, usedBytes: 0, reservations: 0 })
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
    expect(await service.stateOf(yours)).toMatchObject({ documents: 1, objects: 1, usedBytes: 1000 })
  })

  it('deletes a document whose promotion is not settled yet, and gives its bytes back once', async () => {
    const workspace = await workspaceWithDocument('ws_unsettled')
    const { workspaceId, documentId } = workspace
    const signal = AbortSignal.timeout(60_000)
    const document = await service.deps.documents.find(workspaceId, documentId as never, signal)
    if (!document) throw new Error('the document is not there')
    await service.deps.reservations.open({ ...document, leaseExpiresAtMs: Date.now() + 60_000 }, signal)
    const deleted = await admin('documents', 'delete', 'ws_unsettled', documentId, '--yes')
    expect(deleted).toMatchObject({ code: 0, stderr: expect.stringContaining('deleted, 1000 bytes given back') })
    expect(await service.stateOf(workspace)).toMatchObject({ documents: 0, usedBytes: 0, reservations: 0 })
  })
})
