import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DeleteObjectsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { progressBar } from '../../infra/admin/get-document.ts'
import { formatFileId, type WorkspaceId } from '../../lib/ids.ts'
import { jsonLines, ROOT, runAdmin } from '../support/local-service/admin.ts'
import { sharedService, type TestService } from '../support/local-service/services.ts'

const BYTES = Buffer.alloc(9 * 1024 * 1024 + 17, Buffer.from('0123456789abcdef!'))

let service: TestService
let workspaceId: WorkspaceId
let documentId: string
beforeAll(async () => {
  service = await sharedService()
  workspaceId = service.newWorkspaceId()
  await service.putFile(workspaceId, 'sess_1', 'dir/итог 📄.bin', BYTES)
  documentId = await promote('dir/итог 📄.bin')
})
afterAll(() => service.stop())

const admin = (...args: string[]) => runAdmin(['--local', '--directory', service.directory, ...args])

async function call(token: string, method: string, path: string): Promise<Response> {
  return fetch(`${service.demo.base_url}${path}`, { method, headers: { authorization: `Bearer ${token}` } })
}

async function promote(path: string): Promise<string> {
  const token = await service.newKey(workspaceId)
  const response = await call(token, 'POST', `/containers/sess_1/files/${formatFileId(path)}/promote`)
  return ((await response.json()) as { id: string }).id
}

describe('npm run admin -- documents get', () => {
  it('writes the content to a file, whole or not at all, and never over another', async () => {
    const file = join(service.directory, 'fetched.bin')
    const got = await admin('documents', 'get', workspaceId, documentId, '--output', file)
    expect(got).toEqual({ code: 0, stdout: '', stderr: expect.stringContaining(`${file}: `) })
    expect((await readFile(file)).equals(BYTES)).toBe(true)
    await writeFile(file, 'mine')
    const again = await admin('documents', 'get', workspaceId, documentId, '--output', file)
    expect(again).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('is there already') })
    expect(await readFile(file, 'utf8')).toBe('mine')
  })

  it('writes the bytes, and nothing else, to the standard output', async () => {
    const args = [join(ROOT, 'infra/admin/main.ts'), '--local', '--directory', service.directory]
    const get = [...args, 'documents', 'get', workspaceId, documentId, '--output', '-']
    const options = { encoding: 'buffer', maxBuffer: 32 * 1024 * 1024 } as const
    const { stdout, stderr } = await promisify(execFile)(process.execPath, get, options)
    expect([stdout.equals(BYTES), stderr.length]).toEqual([true, 0])
  })

  it('says what is missing: the document, or its content', async () => {
    expect(await admin('documents', 'get', workspaceId, 'file_unknown')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has no document'),
    })
    await service.putFile(workspaceId, 'sess_1', 'lost.txt', Buffer.from('x'))
    const lost = await promote('lost.txt')
    const Bucket = service.demo.documents_bucket
    const { Contents = [] } = await service.s3.send(
      new ListObjectsV2Command({ Bucket, Prefix: `documents/${workspaceId}/${lost}/` }),
    )
    await service.s3.send(
      new DeleteObjectsCommand({ Bucket, Delete: { Objects: Contents.map(({ Key }) => ({ Key: Key ?? '' })) } }),
    )
    const file = join(service.directory, 'lost.txt')
    expect(await admin('documents', 'get', workspaceId, lost, '--output', file)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('is lost'),
    })
    await expect(readFile(file)).rejects.toThrow('ENOENT')
  })

  it.each([
    [0, 100, '[..............................]   0 % of 100 B'],
    [50, 100, '[###############...............]  50 % of 100 B'],
    [2 ** 30, 2 ** 30, '[##############################] 100 % of 1 GiB'],
  ])('shows how far it is: %i of %i', (seen, all, bar) => {
    expect(progressBar(seen, all)).toBe(bar)
  })
})

describe('npm run admin -- keys', () => {
  it('creates a key with some permissions, and changes them from the next request on', async () => {
    const create = ['keys', 'create', '--workspace', workspaceId, '--json']
    const [key] = jsonLines(await admin(...create, '--permission', 'files:read', '--permission', 'containers:read'))
    const token = String(key?.token)
    expect(key?.permissions).toEqual(['files:read', 'containers:read'])
    expect((await call(token, 'GET', '/files')).status).toBe(200)
    expect((await call(token, 'GET', '/containers/sess_1/files')).status).toBe(200)
    expect((await call(token, 'DELETE', '/files/file_1')).status).toBe(403)

    const changed = await admin('keys', 'change', String(key?.key_id), '--permission', 'files:delete')
    expect(changed).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('with files:delete') })
    expect((await call(token, 'GET', '/files')).status).toBe(403)
    expect((await call(token, 'DELETE', '/files/file_1')).status).toBe(404)
  })

  it('changes no management key, which may do everything anyway', async () => {
    const [key] = jsonLines(await admin('keys', 'create', '--workspace', workspaceId, '--management', '--json'))
    const changed = await admin('keys', 'change', String(key?.key_id), '--permission', 'files:read')
    expect(changed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('management key') })
  })
})
