import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Store, storeAt } from '../support/aws/store.ts'
import { type AdminResult, jsonLines, runAdmin, runAdminProcess } from '../support/machine/admin.ts'
import { everythingIn } from '../support/machine/contents.ts'
import { useService } from '../support/machine/services.ts'
import { type FaultProxy, startFaultProxy } from '../support/protocol/fault-proxy.ts'

const service = useService()
const proxies: FaultProxy[] = []
let earlier: string[]
beforeAll(async () => {
  earlier = await ofTrials()
})
afterAll(() => Promise.all(proxies.map((proxy) => proxy.stop())))

const line = (...args: string[]) => ['--local', '--directory', service().directory, 'smoke', ...args]
const smoke = (...args: string[]) => runAdmin(line('--json', ...args))
const ofTrials = async () =>
  Object.values(await everythingIn(service()))
    .flat()
    .filter((text) => text.includes('ws_smoke_') && !isTombstone(text))
/** Of a document whose bytes were given back: it expires in a day. */
const isTombstone = (text: string) => text.includes('"record_kind":"tombstone"') && text.includes('"ttl_at"')
const remains = async () => (await ofTrials()).filter((text) => !earlier.includes(text))

/** By the name of the check. */
function verdicts(result: AdminResult) {
  return Object.fromEntries(jsonLines(result).map(({ check, verdict, detail }) => [`${check}`, { verdict, detail }]))
}

/** Something in the way of some requests to a server. */
async function through(upstream: Store | string, fault: FaultProxy['fault'] = () => undefined): Promise<FaultProxy> {
  const proxy = Object.assign(await startFaultProxy(upstream), { fault })
  proxies.push(proxy)
  return proxy
}
const throughApi = (fault?: FaultProxy['fault']) => through(service().demo.base_url, fault)
const baseUrl = ({ endpoint }: FaultProxy) => ['--base-url', `${endpoint}/v1`]

/** smoke, with something in the way of some requests to S3. */
const smokeBehind = ({ endpoint }: FaultProxy) => smokeWith({ s3_endpoint: endpoint })

async function smokeWith(changes: object): Promise<AdminResult> {
  const behind = join(service().directory, 'behind')
  await mkdir(behind, { recursive: true })
  await writeFile(join(behind, 'demo.json'), JSON.stringify({ ...service().demo, ...changes }))
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
    const isRuined = (path: string) => path.includes('/no/such/route')
    const api = await throughApi(({ path }) =>
      isRuined(path) ? { kind: 'answer', status: 500, body: '{}' } : undefined,
    )
    const result = await smoke(...baseUrl(api))
    expect(result.code).toBe(1)
    const { 'an unknown route': route, 'a full quota': quota, ...others } = verdicts(result)
    expect(route).toEqual({ verdict: 'problem', detail: 'answered 500, not 404 route_not_found. {}' })
    expect(quota?.verdict).toBe('ok')
    expect(others['everything is gone']?.verdict).toBe('ok')
    expect(await remains()).toEqual([])
  })

  it('clears up when nobody answers at all', async () => {
    const nobody = await throughApi()
    await proxies.pop()?.stop()
    const result = await smoke(...baseUrl(nobody))
    expect(result.code).toBe(1)
    const { 'promote a small file': promotion, 'everything is gone': gone } = verdicts(result)
    expect(promotion).toMatchObject({ verdict: 'problem', detail: expect.stringMatching(/^No answer from 127/) })
    expect(gone?.verdict).toBe('ok')
    expect(await remains()).toEqual([])
  })

  it('clears up after Ctrl-C in the middle: exit code 2', async () => {
    const inTheMiddle = Promise.withResolvers<void>()
    const api = await throughApi(({ path }) => {
      if (path.includes('promote')) inTheMiddle.resolve()
      return undefined
    })
    const result = await runAdminProcess(line('--json', ...baseUrl(api)), {}, inTheMiddle.promise)
    expect(result.code).toBe(2)
    expect(verdicts(result)['everything is gone']).toMatchObject({ verdict: 'ok' })
    expect(await remains()).toEqual([])
  })

  it('finds that an S3-compatible server ignores the conditions of copies, and leaves nothing behind', async () => {
    const s3 = storeAt(service().demo.s3_endpoint)
    const ignorant: Store = ({ headers, ...request }) => {
      const { 'x-amz-copy-source-if-match': _, 'x-amz-mp-object-size': __, ...others } = headers
      return s3({ ...request, headers: others })
    }
    const result = await smokeBehind(await through(ignorant))
    s3.close()
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

  const LIMITS = [{ MAX_FILE_BYTES: '1000000' }, { MULTIPART_THRESHOLD_BYTES: '5000000000' }]
  it.each(LIMITS)('tries no file in parts where that would be too large: %j', async (settings) => {
    const result = await smokeWith({ environment: { ...service().demo.environment, ...settings } })
    const { 'promote a file in parts': inParts, 'bytes of the documents': bytes } = verdicts(result)
    expect([result.code, inParts?.verdict, bytes?.verdict]).toEqual([0, 'not_checked', 'ok'])
    expect(await remains()).toEqual([])
  })

  it('names what it could not remove, also when it fails half way: exit code 1', async () => {
    const body = '<Error><Code>AccessDenied</Code><Message>not you</Message></Error>'
    // The second file cannot be put, so nothing is checked; the first cannot be deleted.
    const s3 = await through(service().demo.s3_endpoint, ({ path, method }) => {
      const isRefused = method === 'DELETE' ? /small\.txt/.test(path) : method === 'PUT' && /bung/.test(path)
      return isRefused ? { kind: 'answer', status: 403, body } : undefined
    })
    const result = await smokeBehind(s3)
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
