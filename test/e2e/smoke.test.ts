import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type LocalService, startLocalService } from '../../infra/local/service.ts'
import { type AdminResult, jsonLines, ROOT, runAdmin } from '../support/admin-process.ts'

// Processes are slow to start on a busy machine.
vi.setConfig({ testTimeout: 90_000 })

let directory: string
let service: LocalService
const servers: Server[] = []
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }

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

/** Everything that is stored and has to do with a smoke test. */
async function remains(): Promise<string[]> {
  const { demo } = service
  const common = { region: 'us-east-1', credentials }
  const dynamoDb = new DynamoDBClient({ ...common, endpoint: demo.dynamodb_endpoint })
  const s3 = new S3Client({ ...common, endpoint: demo.s3_endpoint, forcePathStyle: true })
  const tables = Object.entries(demo.environment).flatMap(([name, table]) => (name.endsWith('_TABLE') ? [table] : []))
  const rows = await Promise.all(
    tables.map(async (TableName) => {
      const { Items = [] } = await dynamoDb.send(new ScanCommand({ TableName }))
      return Items.map((item) => JSON.stringify(unmarshall(item)))
    }),
  )
  const objects = await Promise.all(
    [demo.sandbox_bucket, demo.documents_bucket].map(async (Bucket) => {
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }))
      const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket }))
      return [...Contents, ...Uploads].map(({ Key }) => `${Key}`)
    }),
  )
  return [...rows, ...objects].flat().filter((text) => text.includes('smoke'))
}

/** The service behind something that is in the way of some requests. */
async function through(hinder: (path: string, method: string) => 'pass' | 'ruin' | Promise<'pass'>): Promise<string> {
  const server = createServer(async (asked, answered) => {
    const how = await hinder(`${asked.url}`, `${asked.method}`)
    if (how === 'ruin') return void answered.writeHead(500, { 'content-type': 'application/json' }).end('{}')
    const { host, ...headers } = asked.headers
    const to = request(
      `${new URL(service.demo.base_url).origin}${asked.url}`,
      { method: asked.method, headers },
      (it) => {
        answered.writeHead(it.statusCode ?? 500, it.headers)
        it.pipe(answered)
      },
    )
    asked.pipe(to)
  })
  servers.push(server)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

describe('npm run admin -- smoke', () => {
  it('finds nothing wrong with the local service, and leaves nothing behind: exit code 0', async () => {
    const result = await smoke()
    expect([result.code, result.stderr]).toEqual([0, ''])
    const found = Object.entries(verdicts(result))
    expect(found.filter(([, { verdict }]) => verdict === 'fault')).toEqual([])
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
    expect(stdout).toMatch(/No fault was found; \d+ ok, \d+ not checked\.$/m)
  })

  it('names what fails, goes on with the rest, and clears up: exit code 1', async () => {
    const baseUrl = await through((path) => (path.includes('/no/such/route') ? 'ruin' : 'pass'))
    const result = await smoke(['--base-url', baseUrl])
    expect(result.code).toBe(1)
    const { 'an unknown route': route, 'a full quota': quota, ...others } = verdicts(result)
    expect(route).toEqual({ verdict: 'fault', detail: 'answered 500, not 404 route_not_found.' })
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
    expect(promotion).toMatchObject({ verdict: 'fault', detail: expect.stringMatching(/^No answer from 127/) })
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
})
