import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type LocalService, startLocalService } from '../../infra/local/service.ts'
import { type AdminResult, jsonLines, ROOT, runAdmin } from '../support/admin-process.ts'
import { type Fate, hinder, remainsOf } from '../support/trial.ts'

// Processes are slow to start on a busy machine.
vi.setConfig({ testTimeout: 90_000 })

let directory: string
let service: LocalService
const servers: Server[] = []

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'promotion-smoke-'))
  service = await startLocalService({ root: ROOT, port: 0, directory, environment: {}, log: () => {} })
})
afterAll(async () => {
  for (const server of servers) server.close()
  await service.stop()
  await rm(directory, { recursive: true, force: true })
})

const smoke = (args: string[] = [], interruption?: Promise<unknown>) =>
  runAdmin(['--local', '--directory', directory, 'smoke', '--json', ...args], {}, interruption)

/** By the name of the check. */
function verdicts(result: AdminResult) {
  return Object.fromEntries(jsonLines(result).map(({ check, verdict, detail }) => [`${check}`, { verdict, detail }]))
}

const RUINED: Fate = { status: 500, contentType: 'application/json', body: '{}' }
const remains = () => remainsOf('smoke', service.demo)

/** The API behind something that is in the way of some requests. */
async function through(fateOf: (path: string, method: string) => Fate | Promise<Fate>): Promise<string> {
  const { origin, server } = await hinder(service.demo.base_url, fateOf)
  servers.push(server)
  return `${origin}/v1`
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
        ...['delete a document', 'audit of the workspace', 'everything is gone'],
      ]),
    )
    expect(await remains()).toEqual([])
  })

  it('tells people one line per check, with its time', async () => {
    const { code, stdout } = await runAdmin(['--local', '--directory', directory, 'smoke'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ok +\d+\.\d s {2}promote a small file +200, \d+ bytes$/m)
    expect(stdout).toMatch(/No problem was found; \d+ ok, \d+ not checked\.$/m)
  })

  it('names what fails, goes on with the rest, and clears up: exit code 1', async () => {
    const baseUrl = await through((path) => (path.includes('/no/such/route') ? RUINED : 'pass'))
    const result = await smoke(['--base-url', baseUrl])
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
    const result = await smoke(['--base-url', nobody])
    expect(result.code).toBe(1)
    const { 'promote a small file': promotion, 'everything is gone': gone } = verdicts(result)
    expect(promotion).toMatchObject({ verdict: 'problem', detail: expect.stringMatching(/^No answer from 127/) })
    expect(gone?.verdict).toBe('ok')
    expect(await remains()).toEqual([])
  })

  it('clears up after Ctrl-C in the middle: exit code 2', async () => {
    let reached = () => {}
    const inTheMiddle = new Promise<void>((resolve) => {
      reached = resolve
    })
    const baseUrl = await through(async (path) => {
      if (!path.includes('promote')) return 'pass'
      reached()
      return sleep(3000, 'pass' as const)
    })
    const result = await smoke(['--base-url', baseUrl], inTheMiddle)
    expect(result.code).toBe(2)
    expect(verdicts(result)['everything is gone']).toMatchObject({ verdict: 'ok' })
    expect(await remains()).toEqual([])
  })

  it('names what it could not remove, also when it fails half way: exit code 1', async () => {
    const denied: Fate = {
      status: 403,
      contentType: 'application/xml',
      body: '<Error><Code>AccessDenied</Code><Message>not you</Message></Error>',
    }
    // The second file cannot be put, so nothing is checked; the first cannot be deleted.
    const { origin, server } = await hinder(service.demo.s3_endpoint, (path, method) => {
      const isRefused = method === 'DELETE' ? /small\.txt/.test(path) : method === 'PUT' && /bung/.test(path)
      return isRefused ? denied : 'pass'
    })
    servers.push(server)
    const behind = join(directory, 'behind')
    await mkdir(behind)
    await writeFile(join(behind, 'demo.json'), JSON.stringify({ ...service.demo, s3_endpoint: origin }))
    const result = await runAdmin(['--local', '--directory', behind, 'smoke', '--json'])
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
