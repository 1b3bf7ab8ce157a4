import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type FilePath, formatFileId } from '../../lib/ids.ts'
import { createMemoryS3 } from '../support/aws/memory-s3.ts'
import { storeAt } from '../support/aws/store.ts'
import { answering, both, changing, onlyLatest, RIGHT, replacing, type Wrong, without } from '../support/aws/wrong.ts'
import { type AdminResult, jsonLines, runAdmin, runAdminProcess } from '../support/machine/admin.ts'
import { everythingIn } from '../support/machine/contents.ts'
import { useService } from '../support/machine/services.ts'
import { freePort } from '../support/machine/use-npm-start.ts'
import { startFaultProxy } from '../support/protocol/fault-proxy.ts'

let s3 = RIGHT
let api = RIGHT
let isResolving = true

const over = new AbortController()
const { store } = createMemoryS3()
const s3Proxy = await startFaultProxy((request) => s3(request, store))
const apiProxy = await startFaultProxy((request) => api(request, real))
let real: ReturnType<typeof storeAt>
let resolving: Promise<void>
const service = useService(() => ({
  // The resolver runs when these tests let it.
  everyMs: 3_600_000,
  environment: { AWS_ENDPOINT_URL_S3: s3Proxy.endpoint, AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
  changes: { MULTIPART_THRESHOLD_BYTES: '8388608', MIN_PART_BYTES: '5242880' },
}))
beforeAll(() => {
  real = storeAt(service().demo.base_url)
  resolving = resolve()
})
beforeEach(() => {
  s3 = RIGHT
  api = RIGHT
  isResolving = true
  // It holds all that was sent.
  s3Proxy.calls = []
})
afterEach(() => vi.restoreAllMocks())
afterAll(async () => {
  over.abort()
  await resolving
  for (const proxy of [s3Proxy, apiProxy]) await proxy.stop()
  real.close()
})

const line = (...args: string[]) =>
  `--local --directory ${service().directory} smoke --base-url ${apiProxy.endpoint}/v1`.split(' ').concat(args)
const smoke = (...args: string[]) => runAdmin(line('--json', ...args))
const remains = async () =>
  Object.values(await everythingIn(service()))
    .flat()
    .filter((text) => text.includes('ws_smoke_') && !isTombstone(text))
/** A document's item once its bytes were refunded: it expires in a day. */
const isTombstone = (text: string) => text.includes('"item_state":"gone"') && text.includes('"ttl_at"')

const SHOWS_A_DOCUMENT = /^GET \/v1\/files\/file_\w+$/
const LOOKS_AT_SMALL = new RegExp(`^GET .*${formatFileId('smoke/small.txt' as FilePath)}$`)
const TO_PROMOTE_MANY = /^POST \/v1\/containers\/[^/]*\/promote/
const { now } = Date
/** For the command, which would wait for minutes. */
const later = (ms: number) => vi.spyOn(Date, 'now').mockImplementation(() => now() + ms)

async function resolve(): Promise<void> {
  const name = `${service().demo.environment.SERVICE_NAME}-resolve-due-work`
  for (; !over.signal.aborted; await sleep(300)) if (isResolving) await service().functions.invoke(name, {})
}

/** By the name of the check. */
function verdicts(result: AdminResult) {
  return Object.fromEntries(jsonLines(result).map(({ check, verdict, detail }) => [`${check}`, { verdict, detail }]))
}

async function expectCleared(result: AdminResult): Promise<void> {
  expect(verdicts(result)['everything is gone']?.verdict).toBe('ok')
  expect(await remains()).toEqual([])
}

describe('npm run admin -- smoke', () => {
  it('finds nothing wrong with the local service, and leaves nothing behind: exit code 0', async () => {
    const result = await smoke()
    const checks = jsonLines(result)
    const others = checks.filter(({ verdict }) => verdict !== 'ok').map(({ check, detail }) => `${check}: ${detail}`)
    expect(others).toEqual([
      'a preflight: CORS is off',
      'a copy of a former version: the sandbox bucket is not versioned',
    ])
    expect([result.code, result.stderr]).toEqual([0, ''])
    expect(checks).toHaveLength(30)
    expect(verdicts(result)["S3's answer for a missing key"]?.detail).toBe('404')
    expect(await remains()).toEqual([])
  })

  it('tells people one line per check, with its time; in a versioned bucket, of a version, too', async () => {
    const VersioningConfiguration = { Status: 'Enabled' } as const
    const { sandbox_bucket: Bucket } = service().demo
    await service().s3.putBucketVersioning({ Bucket, VersioningConfiguration })
    const { code, stdout } = await runAdmin(line('--no-expiry'))
    expect([code, stdout]).toEqual([0, expect.stringContaining('No problem was found')])
    expect(stdout).toMatch(/^ok +\d+\.\d s {2}promote a small file +200, \d+ bytes$/m)
    expect(stdout).toMatch(/^ok +\d+\.\d s {2}a copy of a former version +what was overwritten is copied$/m)
    expect(stdout).not.toContain('an expired document')
    expect(stdout).toMatch(/No problem was found; \d+ ok, \d+ not checked\.$/m)
  })

  /** Servers that do several things wrong, and what the checks say that find them. */
  const WRONG: { s3: Wrong[]; api: Wrong[]; isResolving?: false; advised?: true; found: Record<string, RegExp> }[] = [
    {
      advised: true,
      s3: [
        changing(/^HEAD/, ({ status }) => ({ status: status === 404 ? 403 : status })),
        without('x-amz-copy-source-if-match', 'x-amz-mp-object-size'),
        onlyLatest,
        replacing(/^PUT .*uploaded-in-parts/, '</ChecksumSHA256>', '-2</ChecksumSHA256>'),
      ],
      api: [
        without('if-match', 'file-sha256', 'prefer'),
        replacing(TO_PROMOTE_MANY, '"kept"', '"promoted"'),
        changing(SHOWS_A_DOCUMENT, () => ({ status: 200 })),
      ],
      found: {
        'conditions of copies': /\(CopyObject, UploadPartCopy, CompleteMultipartUpload\)/,
        'a copy of a former version': /^the copy has the SHA-256 [0-9a-f]+, not/,
        'promote a file uploaded in parts': /^answered file-sha256: \(none\)/,
        'another ETag': /^answered 200, not 400 container_file_differs/,
        'another SHA-256': /^answered 200, not 400 container_file_differs/,
        'promote a file once it is there': /^answered 404 container_file_not_found, not 200/,
        'promote by paths': /promoted, not .*kept/,
        'delete a document': /^answered 200 .*, not 404 document_not_found/,
        'an expired document': /^answered 200 .*, not 404 document_expired/,
      },
    },
    {
      s3: [without('x-amz-checksum-algorithm', 'x-amz-checksum-sha256')],
      api: [without('file-expires-in'), replacing(TO_PROMOTE_MANY, '"promoted"', '"kept"')],
      found: {
        'promote a folder': /kept, promoted, not promoted, promoted/,
        'promote a small file': /^answered file-sha256: \(none\), not [0-9a-f]{64}/,
        'promote a file with an odd name': /^answered file-sha256/,
        'promote a file uploaded in parts': /^answered file-sha256/,
        'a copy of a former version': /^the copy has the SHA-256 undefined/,
        'put a document back': /kept twice: as file_\w+ beside file_\w+$/,
        'let a document expire': /^answered file-expires-in: \(none\), not 3600;by=request/,
        'an expired document': /^there is no document that expires/,
      },
    },
    {
      isResolving: false,
      s3: [without('if-none-match')],
      api: [
        changing(LOOKS_AT_SMALL, ({ headers }) => ({ headers: { ...headers, etag: '"another"' } })),
        changing(SHOWS_A_DOCUMENT, () => later(130_000) && {}),
      ],
      found: {
        'conditions of copies': /\(CopyObject onto an object, CompleteMultipartUpload onto an object\)/,
        'promote a small file': /^answered 400 container_file_differs, not 200/,
        'an expired document': /^it is counted two minutes after its end/,
      },
    },
  ]

  it.each(WRONG)('names what fails, goes on with the rest, and clears up: exit code 1 (%#)', async (servers) => {
    s3 = servers.s3.reduce(both)
    api = servers.api.reduce(both)
    isResolving = servers.isResolving ?? true
    const result = await smoke()
    const problems = jsonLines(result).filter(({ verdict }) => verdict === 'problem')
    const said = problems.map(({ check, detail }) => [check, detail])
    const wanted = Object.entries(servers.found).map(([check, detail]) => [check, expect.stringMatching(detail)])
    expect(Object.fromEntries(said)).toEqual(Object.fromEntries(wanted))
    expect(result.code).toBe(1)
    const { detail } = verdicts(result)["S3's answer for a missing key"] ?? {}
    expect(detail).toMatch(servers.advised ? /^403, as to whoever may not list/ : /^404$/)
    await expectCleared(result)
  })

  it('clears up when nobody answers at all', async () => {
    const result = await smoke('--base-url', `http://127.0.0.1:${await freePort()}/v1`)
    expect(result.code).toBe(1)
    const { 'promote a small file': promotion } = verdicts(result)
    expect(promotion).toMatchObject({ verdict: 'problem', detail: expect.stringMatching(/^No answer from 127/) })
    await expectCleared(result)
  })

  it('clears up after Ctrl-C in the middle: exit code 2', async () => {
    const inTheMiddle = Promise.withResolvers<void>()
    api = (request, ask) => {
      if (request.path.includes('promote')) inTheMiddle.resolve()
      return ask(request)
    }
    const result = await runAdminProcess(line('--json'), {}, inTheMiddle.promise)
    expect(result.code).toBe(2)
    await expectCleared(result)
  })

  const LIMITS = [{ MAX_FILE_BYTES: '1000000' }, { MULTIPART_THRESHOLD_BYTES: '5000000000' }]
  it.each(LIMITS)('tries no file in parts where that would be too large: %j', async (settings) => {
    const { demo, directory } = service()
    const behind = join(directory, 'behind')
    await mkdir(behind, { recursive: true })
    const settled = { ...demo, environment: { ...demo.environment, ...settings } }
    await writeFile(join(behind, 'demo.json'), JSON.stringify(settled))
    const result = await smoke('--no-expiry', '--directory', behind)
    const { 'promote a file in parts': inParts, 'download the documents': bytes } = verdicts(result)
    expect([result.code, inParts?.verdict, bytes?.verdict]).toEqual([0, 'not_checked', 'ok'])
    expect(await remains()).toEqual([])
  })

  it('names what it could not remove, also when it fails half way: exit code 1', async () => {
    const body = '<Error><Code>AccessDenied</Code><Message>not you</Message></Error>'
    // The second file cannot be put, so nothing is checked; the first cannot be deleted.
    s3 = answering(/^(DELETE .*small|PUT .*bung)/, 403, body)
    const result = await smoke()
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
        new RegExp(`^left behind: sandbox file ${file} \\(.*not you\\); workspace ${workspaceId}, which counts`),
      ),
    })
  })
})
