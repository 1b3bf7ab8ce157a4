import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Listed, listing } from '../../../infra/local/stores/s3-answers.ts'
import type { RateLimitPolicy } from '../../../lib/config.ts'
import { formatFileId } from '../../../lib/ids.ts'
import type { AnyResponse } from '../../support/api/openapi.ts'
import { OPERATION_NAMES, type OperationName } from '../../support/api/operations.ts'
import { onWire } from '../../support/aws/memory-s3.ts'
import type { Store } from '../../support/aws/store.ts'
import { HANGS } from '../../support/protocol/aws-failures.ts'
import { startTestProcess, type TestProcess } from '../../support/protocol/test-process.ts'
import { createTestStores } from '../../support/protocol/test-stores.ts'
import type { TestWorkspace } from '../../support/protocol/workspaces.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

/** Longer than a read takes: what waits for nothing else begins before the rate limit is known. */
const LIMITER_MS = 150
const MINUTE_MS = 60_000
/** As many keys as are set, then one that a file id can name. */
const [ODD_CONTAINER, GOOD] = ['sess_odd', 'z.txt']

// However busy the machine is, the rate limiter is not taken for down.
skipWaits()
const sleep = promisify(setTimeout)

let start: (rateLimit: RateLimitPolicy) => Promise<TestProcess>
let service: TestProcess
let workspace: TestWorkspace
let documentId: string
let [limiterMs, oddKeys] = [0, 0]

beforeAll(async () => {
  const testStores = await createTestStores()
  const { config, stores } = testStores
  const dynamoDb: Store = async (request) => {
    if (request.body.toString().includes(config.rateLimitsTable)) await sleep(limiterMs)
    return stores.dynamoDb(request)
  }
  const s3: Store = async (request) => {
    const { searchParams } = new URL(request.path, 'http://s3')
    const prefix = searchParams.get('prefix') ?? ''
    return prefix.endsWith(`/${ODD_CONTAINER}/`)
      ? onWire(listing(oddObjects(prefix), searchParams))
      : stores.s3(request)
  }
  start = (rateLimit) =>
    startTestProcess({ ...testStores, config: { ...config, rateLimit }, stores: { dynamoDb, s3 } }, { hungMs: 1000 })
  service = await start({ requestsPerMinute: 1, burst: 1 })
})
afterAll(() => service.stop())

/** A key that has spent its one request of this minute on a document. */
beforeEach(async () => {
  limiterMs = 0
  service.restart()
  workspace = await service.newWorkspace()
  await service.putFile(workspace, 'a.txt', Buffer.from('a file'))
  const { body } = await service.promote(workspace, 'a.txt', { idempotencyKey: 'used' })
  documentId = (body as { id: string }).id
  service.takeCalls()
})

function oddObjects(prefix: string): Listed[] {
  const entry = { Size: 1, LastModified: new Date(0).toISOString() }
  const odd = Array.from({ length: oddKeys }, (_, number) => `a\u0085${String(number).padStart(5, '0')}`)
  return [...odd, GOOD].map((path) => ({ key: prefix + path, entry }))
}

const parameters = () => ({ document_id: documentId, container_id: 'sess_1', file_id: formatFileId('a.txt') })
const call = (name: OperationName, query = {}, change = {}) =>
  service.call(name, workspace, { parameters: { ...parameters(), ...change }, query })

/** Before the limiter's answer, which takes some milliseconds on AWS, a second read may have begun. */
const READS = 2
/** A listing goes on to the next page until it is refused, and ends after ten. */
const PAGES = 10
const REQUESTS: [string, () => Promise<AnyResponse>, mostReads?: number][] = [
  ...OPERATION_NAMES.map((name): [string, () => Promise<AnyResponse>] => [name, () => call(name)]),
  ['list_documents behind a document', () => call('list_documents', { after: documentId })],
  ['list_documents by ids', () => call('list_documents', { 'ids[]': documentId })],
  [
    'list_container_files among odd keys',
    () => call('list_container_files', {}, { container_id: ODD_CONTAINER }),
    PAGES,
  ],
  ['retrieve_container_file that is missing', () => call('retrieve_container_file', {}, { file_id: 'cfile_YQ' })],
  ['a promotion', () => service.promote(workspace, 'a.txt')],
  ['a promotion of a missing file', () => service.promote(workspace, 'missing.txt')],
  ['a promotion with a key', () => service.promote(workspace, 'a.txt', { idempotencyKey: 'new' })],
  ['a replay', () => service.promote(workspace, 'a.txt', { idempotencyKey: 'used' })],
]

describe('a request above the rate limit', () => {
  it.each(REQUESTS)('costs the key, the limiter and its first reads, then the key alone: %s', async (...row) => {
    const [, request, mostReads = READS] = row
    service.restart()
    limiterMs = LIMITER_MS
    oddKeys = 5000
    expect((await request()).status).toBe(429)
    await sleep(LIMITER_MS)
    const [first, ...others] = service.takeCallNames()
    expect(first).toBe('keys.find')
    expect(others).toContain('rateLimit.take')
    expect(others.length, others.join()).toBeLessThanOrEqual(1 + mostReads)
    expect((await request()).status).toBe(429)
    expect(service.takeCallNames()).toEqual(['keys.find'])
  })

  it('costs four calls at most, beside other processes at the edge of the limit', async () => {
    limiterMs = LIMITER_MS
    const fresh = await service.newWorkspace()
    const processes = await Promise.all(Array.from({ length: 8 }, () => start({ requestsPerMinute: 1, burst: 3 })))
    const ask = (each: TestProcess) => each.call('retrieve_document', fresh, { parameters: parameters() })
    const answers = await Promise.all(processes.map(ask))
    await sleep(LIMITER_MS)
    const calls = processes.map((each) => each.takeCallNames().length)
    await Promise.all(processes.map((each) => each.stop()))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([404, 404, 404, 429, 429, 429, 429, 429])
    expect(Math.max(...calls), calls.join()).toBe(4)
  })

  it.each([
    ['a promotion', 'HeadObject'],
    ['a promotion', 'ledger.read'],
    ['retrieve_document', 'documents.find'],
    ['list_documents', 'documents.list'],
    ['list_container_files', 'ListObjectsV2'],
  ])('ends its read when that hangs, and does not repeat it: %s, %s', async (what, hanging) => {
    service.restart()
    service.breakCalls(({ name }) => (name === hanging ? HANGS : undefined))
    const [, request] = REQUESTS.find(([name]) => name === what) ?? expect.fail()
    expect((await request()).status).toBe(429)
    expect(service.takeCallNames().filter((name) => name === hanging)).toHaveLength(1)
  })
})

describe('a list of a container whose first keys no file id can name', () => {
  /** @returns what libraries look at, and how often S3 was called */
  const list = async (query: Record<string, string>) => {
    service.setClock(service.clockOffsetMs() + MINUTE_MS)
    const { status, body } = await call('list_container_files', query, { container_id: ODD_CONTAINER })
    expect(status).toBe(200)
    const { data, ...page } = body as { data: { path: string }[]; has_more: boolean; last_id: string }
    const calls = service.takeCallNames().filter((name) => name === 'ListObjectsV2').length
    return { ...page, paths: data.map(({ path }) => path), calls }
  }

  it('ends after ten calls with a cursor, behind which the next request goes on', async () => {
    oddKeys = 12_000
    const first = await list({ limit: '1' })
    expect(first).toMatchObject({ paths: [], has_more: true, first_id: null, calls: 10 })
    const second = await list({ limit: '1', after: first.last_id })
    expect(second).toMatchObject({ paths: [GOOD], has_more: false, last_id: formatFileId(GOOD), calls: 4 })
  })

  it('tells what it has when S3 fails, and does not repeat the call', async () => {
    oddKeys = 1500
    let calls = 0
    service.breakCalls(({ name }) => (name === 'ListObjectsV2' && ++calls > 1 ? { kind: 'refuse' } : undefined))
    const first = await list({ limit: '1' })
    expect(first).toMatchObject({ paths: [], has_more: true, calls: 2 })
    service.restart()
    expect(await list({ limit: '1', after: first.last_id })).toMatchObject({ paths: [GOOD], has_more: false })
  })
})
