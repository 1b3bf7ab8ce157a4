import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { marshall } from '@aws-sdk/util-dynamodb'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { close, listen } from '../../infra/local/listen.ts'
import { CREDENTIALS, type StandIns, startStandIns } from '../support/stand-ins.ts'

const ROOT = join(import.meta.dirname, '../..')
const START = join(import.meta.dirname, '../../infra/local/start.mjs')

let directory: string
const children: ChildProcess[] = []
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'promotion-start-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null) child.kill('SIGKILL')
  }
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** Runs what npm start runs. @returns everything it printed until it was ready or ended */
async function start(env: Record<string, string>, ...args: string[]) {
  const { AWS_ENDPOINT_URL_S3: _, AWS_ENDPOINT_URL_DYNAMODB: __, ...inherited } = process.env
  const child = spawn(process.execPath, [START, '--directory', directory, ...args], { env: { ...inherited, ...env } })
  children.push(child)
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  let output = ''
  const ready = new Promise<'ready'>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (output.includes('/promote\n')) resolve('ready')
      })
    }
  })
  const outcome = await Promise.race([ready, exited])
  return { child, exited, outcome, output, printedLater: () => output }
}

async function readDemo() {
  return JSON.parse(await readFile(join(directory, 'demo.json'), 'utf8'))
}

async function freePort(): Promise<number> {
  const probe = createServer()
  const port = await listen(probe, 0)
  await close(probe)
  return port
}

describe('npm start', () => {
  it('prints a curl line that can be pasted and returns 200, and stops with all its parts on Ctrl-C', async () => {
    const port = await freePort()
    const { child, exited, outcome, output, printedLater } = await start({}, '--fresh', '--port', String(port))
    expect(outcome, output).toBe('ready')
    const curl = /^ {2}(curl [\s\S]*?\/promote)$/m.exec(output)?.[1] ?? ''
    expect(output.endsWith(`${curl}\n`), 'the curl line is the last thing printed').toBe(true)
    expect(output).not.toMatch(/Offline|λ|"_aws"|[│┌]/)
    const { stdout } = await promisify(execFile)('sh', ['-c', curl.replace('curl -i', 'curl -sS -i')])
    expect(stdout).toMatch(/^HTTP\/1.1 200 OK/)
    const demo = await readDemo()
    expect(demo.base_url).toBe(`http://127.0.0.1:${port}/v1`)
    await fetch(`${demo.base_url}/nothing`, { method: 'POST' })

    child.kill('SIGINT')
    expect(await exited).toBe(0)
    const lines = printedLater().slice(output.length).split('\n')
    expect(lines.map((line) => line.replace(/\d\d:\d\d:\d\d/, 'TIME').replace(/\d+ ms/, 'N ms'))).toEqual([
      `TIME  POST  /v1/containers/${demo.container_id}/files/${demo.files[0].file_id}/promote  200  N ms`,
      'TIME  POST  /v1/nothing  404  N ms  route_not_found',
      '',
    ])
    const serviceLog = await readFile(join(directory, 'service.log'), 'utf8')
    expect(serviceLog).toContain('"message":"request answered"')
    expect(serviceLog).toContain('"_aws"')
    for (const url of [demo.base_url, demo.s3_endpoint, demo.dynamodb_endpoint]) {
      await expect(fetch(url), url).rejects.toThrow()
    }
  })

  it('says where it runs when it is started twice, and --fresh deletes nothing then', async () => {
    const first = await start({}, '--port', String(await freePort()))
    const demo = await readDemo()
    const seconds = await Promise.all([start({}), start({}, '--fresh')])
    for (const { exited, output } of seconds) {
      expect(await exited).toBe(1)
      expect(output).toMatch(
        new RegExp(`^The service is running already, at ${demo.base_url} \\(process ${first.child.pid}\\): .*\n$`),
      )
    }
    expect(await readDemo()).toEqual(demo)
    const path = `/containers/${demo.container_id}/files/${demo.files[0].file_id}/promote`
    const init = { method: 'POST', headers: { authorization: `Bearer ${demo.standard_key}` } }
    expect((await fetch(demo.base_url + path, init)).status).toBe(200)

    // What a killed process leaves is no obstacle, and its keys stay valid.
    first.child.kill('SIGKILL')
    await first.exited
    const third = await start({}, '--port', String(await freePort()))
    expect(third.outcome, third.output).toBe('ready')
    const again = await readDemo()
    expect(again.standard_key).toBe(demo.standard_key)
    expect((await fetch(again.base_url + path, init)).status).toBe(200)
    third.child.kill('SIGINT')
    expect(await third.exited).toBe(0)
  })

  it('prints everything with --verbose', async () => {
    const { child, exited, output, printedLater } = await start({}, '--verbose', '--port', String(await freePort()))
    expect(output).toContain('Server ready')
    const demo = await readDemo()
    await fetch(`${demo.base_url}/containers/x/files/y/promote`, { method: 'POST' })
    child.kill('SIGINT')
    await exited
    expect(printedLater()).toContain('"message":"request answered"')
  })

  it.each([
    [
      'an unknown option',
      ['--prot', '1'],
      "unknown option '--prot' (Did you mean --port?). The options are --port, --fresh",
    ],
    ['something that is no option', ['fresh'], 'npm start takes options only: --port, --fresh'],
    ['an impossible port', ['--port', 'http'], 'it must be a number from 1 to 65535.'],
  ])('names the known options for %s', async (_, args, said) => {
    const { exited, output } = await start({}, ...args)
    expect(await exited).toBe(1)
    expect(output).toContain(said)
    expect(output.trim().split('\n')).toHaveLength(1)
  })

  it('says so when npm took an option for itself', async () => {
    const { exited, output } = await start({ npm_config_fresh: 'true' })
    expect(await exited).toBe(1)
    expect(output).toBe('npm took --fresh for itself: write npm start -- --fresh\n')
  })

  it('says what is needed when npm runs on a Node.js that is too old', async () => {
    const { exited, output } = await start({ npm_config_user_agent: 'npm/9.5.0 node/v18.20.8 linux x64' })
    expect(await exited).toBe(1)
    expect(output).toBe('This needs Node.js 22 or newer, and this is Node.js 18: https://nodejs.org\n')
  })

  it('has help that names all options', async () => {
    const { exited, output } = await start({}, '--help')
    expect(await exited).toBe(0)
    expect(output.replaceAll(ROOT, '…')).toMatchSnapshot()
  })

  it('says in one line that its directory is a file', async () => {
    const { exited, output } = await start({}, '--directory', import.meta.filename)
    expect(await exited).toBe(1)
    expect(output).toMatch(/^There is a file where a directory is needed.*\n$/)
  })

  it('says in one line that its directory is read only', async () => {
    const place = await mkdtemp(join(tmpdir(), 'promotion-read-only-'))
    await chmod(place, 0o555)
    // To root nothing is read only.
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const child = spawn(process.execPath, [START, '--directory', join(place, 'data')], { ...nobody, cwd: '/' })
    const output = await text(child.stderr)
    expect(output).toMatch(/^This must be writable, and is not .*\n$/)
    await rm(place, { recursive: true })
  })

  it('says so when the port is taken', async () => {
    const other = createServer()
    const port = await listen(other, 0)
    const { exited, output } = await start({ PORT: String(port) })
    expect(await exited).toBe(1)
    expect(output).toContain(
      `Port ${port} is taken by another program. Choose another one: npm start -- --port ${port + 1}`,
    )
    await close(other)
  })

  it.each(['0', '65536', 'http', ''])('says so when PORT is %j', async (port) => {
    const { exited, output } = await start({ PORT: port })
    expect(await exited).toBe(1)
    expect(output).toContain('must be a number from 1 to 65535')
  })

  describe("with a server of the user's own", () => {
    let own: StandIns
    beforeAll(async () => {
      own = await startStandIns()
    })
    afterAll(() => own.stop())

    it('uses that server instead of the embedded one', async () => {
      const { outcome, output, child, exited } = await start({
        PORT: String(await freePort()),
        AWS_ENDPOINT_URL_S3: own.s3Endpoint,
        AWS_ENDPOINT_URL_DYNAMODB: own.dynamoDbEndpoint,
        AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
        AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      })
      expect(outcome, output).toBe('ready')
      const { Contents = [] } = await own.s3.send(new ListObjectsV2Command({ Bucket: own.config.sandboxBucket }))
      expect(Contents.length).toBeGreaterThan(5)
      const Key = marshall({ workspace_id: 'ws_full' })
      const { Item } = await own.dynamoDb.send(new GetItemCommand({ TableName: own.config.workspacesTable, Key }))
      expect(Item).toBeDefined()
      child.kill('SIGINT')
      expect(await exited).toBe(0)
    })

    it('asks for credentials when the environment has none', async () => {
      const { exited, output } = await start({
        PORT: String(await freePort()),
        AWS_ENDPOINT_URL_S3: own.s3Endpoint,
        AWS_ACCESS_KEY_ID: '',
      })
      expect(await exited).toBe(1)
      expect(output).toContain('set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
    })
  })
})
