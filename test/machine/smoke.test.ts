import { mkdir, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AdminResult, jsonLines, runAdmin, runAdminProcess } from '../support/machine/admin.ts'
import { startService, type TestService } from '../support/machine/services.ts'
import { type Fate, hinder, remainsOf } from '../support/machine/trial.ts'

let service: TestService
let earlier: string[]
const servers: Server[] = []

beforeAll(async () => {
  service = await startService()
  earlier = await remainsOf('ws_smoke_', service)
})
afterAll(async () => {
  for (const server of servers) server.close()
  await service.stop()
})

const line = (...args: string[]) => ['--local', '--directory', service.directory, 'smoke', ...args]
const smoke = (...args: string[]) => runAdmin(line('--json', ...args))

/** By the name of the check. */
function verdicts(result: AdminResult) {
  return Object.fromEntries(jsonLines(result).map(({ check, verdict, detail }) => [`${check}`, { verdict, detail }]))
}

const RUINED: Fate = { status: 500, contentType: 'application/json', body: '{}' }
const remains = async () => (await remainsOf('ws_smoke_', service)).filter((text) => !earlier.includes(text))

/** The API behind something that is in the way of some requests. */
async function through(fateOf: (path: string, method: string) => Fate | Promise<Fate>): Promise<string> {
  const { origin, server } = await hinder(service.demo.base_url, fateOf)
  servers.push(server)
  return `${origin}/v1`
}

/** smoke, with something in the way of some requests to S3. */
async function smokeBehind(fateOf: (path: string, method: string) => Fate): Promise<AdminResult> {
  const { origin, server } = await hinder(service.demo.s3_endpoint, fateOf)
  servers.push(server)
  const behind = join(service.directory, 'behind')
  await mkdir(behind, { recursive: true })
  await writeFile(join(behind, 'demo.json'), JSON.stringify({ ...service.demo, s3_endpoint: origin }))
  return runAdmin(['--local', '--directory', behind, 'smoke', '--json'])
}

describe('npm run admin -- smoke', () => {
  it('finds nothing wrong with the local service, and leaves nothing behind: exit code 0', async () => {
    const result = await smoke()
    expect([result.code, result.stderr]).toEqual([0, ''])
    const found = Object.entries(verdicts(result))
    expect(found.filter(([, { verdict }]) => verdict === 'problem')).toEqual([])
    const ok = found.filter(([, { verdict }]) => verdict === 'ok').map(([check]) => check)
    expect(ok).toEqual(
      expect.arrayContaining([
        ...['workspace, key and files', 'promote a small file', 'promote a file with an odd name'],
        ...['promote a file in parts', 'bytes of the documents', 'repeat with an Idempotency-Key'],
        ...['list the documents', 'download a document', 'find and download a container file'],
        ...['a missing file', 'a wrong key', 'no key', 'an unknown route', 'a full quota'],
        ...['delete a document', 'conditions of copies', 'audit of the workspace', 'everything is gone'],
      ]),
    )
    expect(await remains()).toEqual([])
  })

  it('tells people one line per check, with its time', async () => {
    const { code, stdout } = await runAdmin(line())
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ok +\d+\.\d s {2}promote a small file +200, \d+ bytes$/m)
    expect(stdout).toMatch(/No problem was found; \d+ ok, \d+ not checked\.$/m)
  })

  it('names what fails, goes on with the rest, and clears up: exit code 1', async () => {
    const baseUrl = await through((path) => (path.includes('/no/such/route') ? RUINED : 'pass'))
    const result = await smoke('--base-url', baseUrl)
    expect(result.code).toBe(1)
    const { 'an unknown route': route, 'a full quota': quota, ...others } = verdicts(result)
    expect(route).toEqual({ verdict: 'problem', detail: 'answered 500, not 404 route_not_found.' })
    expect(quota?.verdict).toBe('ok')
    expect(others['everything is gone']?.verdict).toBe('ok')
    expect(await remains()).toEqual([])
  })

  it('clears up when nobody answers at all', async () => {
    const nobody = await through(() => 'pass')
    await new Promise((resolve) => servers.pop()?.close(resolve))
    const result = await smoke('--base-url', nobody)
    expect(result.code).toBe(1)
    const { 'promote a small file': promotion, 'everything is gone': gone } = verdicts(result)
    expect(promotion).toMatchObject({ verdict: 'problem', detail: expect.stringMatching(/^No answer from 127/) })
    expect(gone?.verdict).toBe('ok')
    expect(await remains()).toEqual([])
  })

  it('clears up after Ctrl-C in the middle: exit code 2', async () => {
    const inTheMiddle = Promise.withResolvers<void>()
    const baseUrl = await through(async (path) => {
      if (!path.includes('promote')) return 'pass'
      inTheMiddle.resolve()
      return sleep(500, 'pass' as const)
    })
    const result = await runAdminProcess(line('--json', '--base-url', baseUrl), {}, inTheMiddle.promise)
    expect(result.code).toBe(2)
    expect(verdicts(result)['everything is gone']).toMatchObject({ verdict: 'ok' })
    expect(await remains()).toEqual([])
  })

  it('finds that an S3-compatible server ignores the conditions of copies, and leaves nothing behind', async () => {
    const without = ['x-amz-copy-source-if-match', 'x-amz-mp-object-size']
    const result = await smokeBehind(() => ({ without }))
    const { 'conditions of copies': conditions, 'audit of the workspace': audit } = verdicts(result)
    expect({ code: result.code, verdict: conditions?.verdict, audit }).toMatchObject({
      code: 1,
      verdict: 'problem',
      audit: { verdict: 'ok' },
    })
    for (const operation of ['CopyObject', 'UploadPartCopy', 'CompleteMultipartUpload']) {
      expect(conditions?.detail).toContain(operation)
    }
    expect(await remains()).toEqual([])
  })

  it('names what it could not remove, also when it fails half way: exit code 1', async () => {
    const denied: Fate = {
      status: 403,
      contentType: 'application/xml',
      body: '<Error><Code>AccessDenied</Code><Message>not you</Message></Error>',
    }
    // The second file cannot be put, so nothing is checked; the first cannot be deleted.
    const result = await smokeBehind((path, method) => {
      const isRefused = method === 'DELETE' ? /small\.txt/.test(path) : method === 'PUT' && /bung/.test(path)
      return isRefused ? denied : 'pass'
    })
    expect(result.code).toBe(1)
    const { 'workspace, key and files': settling, 'everything is gone': gone, ...others } = verdicts(result)
    expect([settling?.verdict, others]).toEqual(['problem', {}])
    const [, workspaceId = ''] = /workspace (ws_smoke_\w+)/.exec(`${gone?.detail}`) ?? []
    const [left, ...more] = await remains()
    expect([left?.includes(workspaceId), more.length]).toEqual([true, 1])
    const file = (await remains()).find((text) => text.startsWith('sandboxes/'))
    expect(file).toMatch(/small\.txt$/)
    expect(gone).toEqual({
      verdict: 'problem',
      detail: expect.stringMatching(
        new RegExp(`^left behind: sandbox file ${file} \\(.*not you\\); workspace ${workspaceId}, whose rows`),
      ),
    })
  })
})
