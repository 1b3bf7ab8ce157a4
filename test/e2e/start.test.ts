import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { marshall } from '@aws-sdk/util-dynamodb'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { close, listen } from '../../infra/local/listen.ts'
import { CREDENTIALS, type StandIns, startStandIns } from '../support/stand-ins.ts'

const START = join(import.meta.dirname, '../../infra/local/start.ts')

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
  return { child, exited, outcome, output }
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
    const { child, exited, outcome, output } = await start({ PORT: String(port) }, '--fresh')
    expect(outcome, output).toBe('ready')
    const curl = /^ {2}(curl [\s\S]*?\/promote)$/m.exec(output)?.[1] ?? ''
    const { stdout } = await promisify(execFile)('sh', ['-c', curl.replace('curl -i', 'curl -sS -i')])
    expect(stdout).toMatch(/^HTTP\/1.1 200 OK/)
    const demo = JSON.parse(await readFile(join(directory, 'demo.json'), 'utf8'))
    expect(demo.base_url).toBe(`http://127.0.0.1:${port}/v1`)

    child.kill('SIGINT')
    expect(await exited).toBe(0)
    for (const url of [demo.base_url, demo.s3_endpoint, demo.dynamodb_endpoint]) {
      await expect(fetch(url), url).rejects.toThrow()
    }
  })

  it('says so when the port is taken', async () => {
    const other = createServer()
    const port = await listen(other, 0)
    const { exited, output } = await start({ PORT: String(port) })
    expect(await exited).toBe(1)
    expect(output).toContain(`Port ${port} is taken by another program. Choose another one: PORT=${port + 1} npm start`)
    await close(other)
  })

  it.each(['0', '65536', 'http', ''])('says so when PORT is %j', async (port) => {
    const { exited, output } = await start({ PORT: port })
    expect(await exited).toBe(1)
    expect(output).toContain('PORT must be a number from 1 to 65535')
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
