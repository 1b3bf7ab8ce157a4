import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Route, readServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import { matchRoute, type ServedRequest, startGateway } from '../../../infra/local/gateway/gateway.ts'
import { printable, printableJson, printableLine } from '../../../infra/local/printable.ts'
import { createServiceLog } from '../../../infra/local/service-log.ts'
import { parseHost, parsePort, readStartOptions } from '../../../infra/local/start-options.ts'
import { emptyDirectory, lockDirectory } from '../../../infra/local/stores/directory-lock.ts'
import { expectDocumented } from '../../support/api/openapi.ts'
import { request } from '../../support/machine/requests.ts'
import { useDirectory } from '../../support/use-directory.ts'

const directory = useDirectory('local')

it('the lock of a data directory is held by one at a time; the others are told where', async () => {
  const place = join(directory(), 'with space')
  await mkdir(place, { mode: 0o755 })
  const lock = await lockDirectory(place)
  expect((await stat(place)).mode & 0o777, 'it holds keys and files').toBe(0o700)
  await expect(lockDirectory(place)).rejects.toThrow('is starting')
  await writeFile(join(place, 'demo.json'), '{"base_url": "http://x"}')
  await expect(lockDirectory(place)).rejects.toThrow('is running, at http://x')
  await emptyDirectory(place)
  expect(await readdir(place)).toEqual(['lock'])
  await lock.close()
  await (await lockDirectory(place)).close()
})

describe('matchRoute', () => {
  const names = ['POST /v1/a/{id}/b', 'GET /v1/a/{id}', 'DELETE /v1/a/{id}', 'GET /v1/a/fixed', 'GET /v1/a']
  const routes = names.map((functionName): Route => {
    const [method = '', resource = ''] = functionName.split(' ')
    return { method, resource, functionName }
  })

  it.each([
    ['POST', '/v1/a/x%2Fy/b', 'POST /v1/a/{id}/b', { id: 'x%2Fy' }],
    ['GET', '/v1/a/fixed', 'GET /v1/a/fixed', {}],
    ['GET', '/v1/a/other', 'GET /v1/a/{id}', { id: 'other' }],
    ['GET', '/v1/a/', 'GET /v1/a', {}],
    ['GET', '/v1/a/other/', 'GET /v1/a/{id}', { id: 'other' }],
  ])('finds %s %s', (method, path, functionName, pathParameters) => {
    const found = { outcome: 'found', route: { functionName }, pathParameters }
    expect(matchRoute(routes, method, path)).toMatchObject(found)
  })

  it.each([
    ['PUT', '/v1/a/x', ['DELETE', 'GET']],
    ['OPTIONS', '/v1/a/x/b', ['POST']],
    // A fixed segment hides the parameter, whatever its methods.
    ['DELETE', '/v1/a/fixed', ['GET']],
  ])('knows the methods of the path of %s %s', (method, path, allowed) => {
    expect(matchRoute(routes, method, path)).toEqual({ outcome: 'wrong_method', allowed })
  })

  it.each(['/v1/a//', '/v1//a', '/V1/a', '/a', '/v1/v1/a', '/v1/a//b', '', '*', '/v1/%61'])('knows no %j', (path) => {
    expect(matchRoute(routes, 'GET', path)).toEqual({ outcome: 'unknown_path' })
  })
})

describe('the gateway', () => {
  type Invoke = (functionName: string, event: unknown) => Promise<unknown>
  /** Its address, when the functions are invoked so. */
  async function start(invoke: Invoke, onRequest?: (request: ServedRequest) => void) {
    const options = { ...readServiceDefinition(), port: 0, invoke, onRequest, corsAllowedOrigins: [] }
    const gateway = await startGateway(options)
    onTestFinished(() => gateway.stop())
    return `http://127.0.0.1:${gateway.port}`
  }
  const ask = async (path: string, invoke: Invoke) => request(await start(invoke), path, { method: 'GET' })

  it('tells of every request but the looks of the page, unless one fails', async () => {
    const told: [string, number][] = []
    let statusCode = 200
    const invoke = async () => ({ statusCode, headers: {}, body: '{}' })
    const url = await start(invoke, ({ path, status }) => told.push([path, status]))
    const get = (headers: Record<string, string>) => fetch(`${url}/v1/files`, { headers })
    await get({ 'page-look': '1' })
    expect(told).toEqual([])
    await get({})
    statusCode = 503
    await get({ 'page-look': '1' })
    // What opens a link is told to nobody, whatever path it is in.
    for (const path of ['/l/cfl_0a.', '//l/cfl_0a', '/v1/files/a/links/cfl_0a']) await fetch(url + path)
    expect(told.slice(0, 2)).toEqual([
      ['/v1/files', 200],
      ['/v1/files', 503],
    ])
    expect(told.map(([path]) => path).join()).not.toContain('0a')
  })

  it('hands on a path that ends in a slash as it came, with the resource of the one without', async () => {
    const { body } = await ask('/v1/files/', async (_, event) => ({ statusCode: 200, body: JSON.stringify(event) }))
    expect(body).toMatchObject({ resource: '/v1/files', path: '/v1/files/' })
  })

  it('refuses a body above the 6 MB of an invocation with the error body: 413', async () => {
    const url = await start(() => Promise.reject(new Error('a function was invoked')))
    const large = 'x'.repeat(7e6)
    // Nobody states the length of the second.
    for (const init of [{ body: large }, { body: new Blob([large]).stream(), duplex: 'half' }]) {
      const answer = await request(url, '/v1/containers/a/files/b/promote', init as RequestInit)
      expectDocumented(answer)
      expect(answer).toMatchObject({ status: 413, body: { error: { metadata: { reason: 'request_too_large' } } } })
    }
  })

  it('answers 500 when a function throws, and asks nobody to try again', async () => {
    const answer = await ask('/v1/files', () => Promise.reject(new Error('thrown')))
    expectDocumented(answer)
    expect(answer).toMatchObject({ status: 500, body: { error: { metadata: { reason: 'internal_error' } } } })
    expect(answer.headers).not.toHaveProperty('retry-after')
  })
})

it('the log of the service shows requests, and keeps the rest in the file', async () => {
  const printed: string[] = []
  const log = createServiceLog({ directory: directory(), isVerbose: false, print: (line) => printed.push(line) })
  log.fromFunctions('{"message":"due work looked through"}\n')
  log.request({ method: 'POST', path: '/v1/\u001b[2J\u202ex', status: 200, durationMs: 12.3, reason: undefined })
  log.request({ method: 'POST', path: '/v1/x', status: 500, durationMs: 1, reason: 'internal_error' })
  expect(printed.map((line) => line.slice(10).replace(log.file, 'FILE'))).toEqual([
    'POST  /v1/\\u{202e}x  200  12 ms',
    'POST  /v1/x  500  1 ms  internal_error  (more in FILE)',
  ])
  expect(printed[0]).toMatch(/^\d\d:\d\d:\d\d {2}/)
  await sleep(50)
  expect(await readFile(log.file, 'utf8')).toContain('"due work looked through"')
})

describe('the options of npm start', () => {
  it('have defaults', () => {
    const read = (...args: string[]) => readStartOptions(args, '/r')
    expect(read()).toEqual({ port: 3000, fresh: false, verbose: false, directory: '/r/.local', watch: false })
    expect(read('--fresh', '--inspect', '--port', '5000')).toMatchObject({ fresh: true, inspect: 9229, port: 5000 })
  })

  it.each(['Host.Docker.internal', '192.168.0.10'])('take the host %s', (host) => {
    expect(parseHost(host)).toBe(host.toLowerCase())
  })

  const NO_HOSTS = ['localhost', 'x.localhost', '127.0.0.2', '0.0.0.0', '0', '::', 'a:3000', 'http://a', '-a', '']
  it.each(NO_HOSTS)('refuse the host %j', (host) => {
    expect(() => parseHost(host)).toThrow('the name or IPv4 address by which containers know this machine')
  })

  it.each(['http', '0', '65536', '', '1.5'])('refuse the port %j', (port) => {
    expect(() => parsePort(port)).toThrow('a number from 1 to 65535')
  })
})

it.each([
  ['a\u001b[31mb', 'ab'],
  ['a\u0007\rb', 'a\ufffd\ufffdb'],
  ['invoice\u202efdp.exe', 'invoice\\u{202e}fdp.exe'],
  ['a\u200bb\u2066c\u2069\ufeff\u00ad', 'a\\u{200b}b\\u{2066}c\\u{2069}\\u{feff}\\u{ad}'],
  ['a\u{e0041}\u2028', 'a\\u{e0041}\\u{2028}'],
  ['отчёты/結果 📄 é', 'отчёты/結果 📄 é'],
  ['two\nlines', 'two\nlines'],
])('printable shows %j as %j', (text, shown) => {
  expect(printable(text)).toBe(shown)
  expect(printableLine(text)).toBe(shown.replaceAll('\n', '\\n'))
  const json = printableJson({ text })
  expect([JSON.parse(json), printable(json)]).toEqual([{ text }, json])
})
