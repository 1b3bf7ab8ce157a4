import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { GetObjectCommand, PutObjectCommand, S3 } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it, vi } from 'vitest'
import { printedBy, run } from '../support/machine/program.ts'
import { ROOT, startStores } from '../support/machine/services.ts'
import { freePort, useNpmStart } from '../support/machine/use-npm-start.ts'
import { CREDENTIALS, useStandIns } from '../support/stores/stand-ins.ts'

const PATIENCE = { timeout: 120_000 }
const { start, readDemo, directory } = useNpmStart()

describe('npm start', () => {
  it('prints a curl line that can be pasted and returns 200, and stops with all its parts on Ctrl-C', async () => {
    const port = await freePort()
    const { child, exited, outcome, output, printedLater } = await start({}, '--fresh', '--port', String(port))
    expect(outcome, output).toBe('ready')
    const curl = /^ {2}(curl [\s\S]*?\/promote)$/m.exec(output)?.[1] ?? ''
    expect(output.endsWith(`${curl}\n`), 'the curl line is the last thing printed').toBe(true)
    expect(output).not.toContain('"_aws"')
    const { stdout } = await run('sh', ['-c', curl.replace('curl -i', 'curl -sS -i')])
    expect(stdout).toMatch(/^HTTP\/1.1 200 OK/)
    const demo = await readDemo()
    expect(demo.base_url).toBe(`http://127.0.0.1:${port}/v1`)
    expect(demo.s3_endpoint).toBe(`http://127.0.0.1:${port + 1}`)
    expect(demo.dynamodb_endpoint).toBe(`http://127.0.0.1:${port + 2}`)
    expect(demo).not.toHaveProperty('base_url_in_containers')
    await fetch(`${demo.base_url}/nothing`, { method: 'POST' })
    // It comes by itself.
    await vi.waitFor(() => expect(printedLater()).toMatch(/document\.promoted .*\n/), 60_000)
    const events = (await readFile(join(directory(), 'events.ndjson'), 'utf8')).trimEnd().split('\n')
    const [event, ...others] = events.map((line) => JSON.parse(line))
    const { workspace_id, document_id } = event.detail
    expect([others, event['detail-type'], event.detail.filename]).toEqual([[], 'document.promoted', demo.files[0].path])

    child.kill('SIGINT')
    expect(await exited).toBe(0)
    const lines = printedLater().slice(output.length).split('\n')
    const read = lines.map((line) => line.replace(/\d\d:\d\d:\d\d/, 'TIME').replace(/\d+ ms/, 'N ms'))
    expect(read.toSorted()).toEqual([
      '',
      `TIME  POST  /v1/containers/${demo.container_id}/files/${demo.files[0].file_id}/promote  200  N ms`,
      'TIME  POST  /v1/nothing  404  N ms  route_not_found',
      `TIME  document.promoted  ${workspace_id}  ${document_id}  ${demo.files[0].path}`,
    ])
    const serviceLog = await readFile(join(directory(), 'service.log'), 'utf8')
    expect(serviceLog).toContain('"message":"request answered"')
    expect(serviceLog).toContain('"_aws"')
    for (const url of [demo.base_url, demo.s3_endpoint, demo.dynamodb_endpoint]) {
      await expect(fetch(url), url).rejects.toThrow()
    }
  })

  it('lives on when requests to any of its servers are broken off', async () => {
    const { child, exited } = await start({}, '--fresh', '--port', String(await freePort()))
    const { base_url, s3_endpoint: endpoint, dynamodb_endpoint, sandbox_bucket: Bucket, ...demo } = await readDemo()
    const s3 = new S3({ region: 'us-east-1', endpoint, forcePathStyle: true, credentials: CREDENTIALS })
    const put = await getSignedUrl(s3, new PutObjectCommand({ Bucket, Key: 'never' }))
    const large = await getSignedUrl(
      s3,
      new GetObjectCommand({ Bucket, Key: 'sandboxes/ws_demo/sess_demo-r4k2/data/large.bin' }),
    )
    const promotion = `${base_url}/containers/${demo.container_id}/files/${demo.files[0].file_id}/promote`
    const upload = new URL('/demo/uploads?workspace_id=ws_demo&container_id=sess_demo-r4k2&path=never', base_url).href
    const page = new URL('/swagger-ui-bundle.js', base_url).href
    await fetch(page)
    const received = () => readdir(join(directory(), 's3/bytes'))
    const before = await received()

    for (const [url, method] of Object.entries({
      [upload]: 'PUT',
      [put]: 'PUT',
      [promotion]: 'POST',
      [dynamodb_endpoint]: 'POST',
    })) {
      const sent = request(url, { method, headers: { expect: '100-continue', 'content-length': 1e7 } })
      sent.on('error', () => {}).flushHeaders()
      await once(sent, 'continue')
      await new Promise((resolve) => sent.write(Buffer.alloc(6e6), resolve))
      if (method === 'PUT') await vi.waitFor(async () => expect(await received()).not.toEqual(before), PATIENCE)
      sent.destroy()
      await vi.waitFor(async () => expect(await received(), 'nothing stays of it').toEqual(before), PATIENCE)
    }
    const headers = { authorization: `Bearer ${demo.standard_key}` }
    for (const [url, method] of Object.entries({
      [page]: 'GET',
      [large]: 'GET',
      [promotion]: 'POST',
      [dynamodb_endpoint]: 'POST',
    })) {
      const sent = request(url, { method, headers: method === 'GET' ? {} : headers })
      sent.on('error', () => {}).end()
      await once(sent, method === 'GET' ? 'response' : 'finish')
      sent.destroy()
    }
    expect((await fetch(large)).status).toBe(200)
    expect((await fetch(new URL('/demo.json', base_url))).status).toBe(200)
    expect((await fetch(promotion, { method: 'POST', headers })).status).toBe(200)
    child.kill('SIGINT')
    expect(await exited).toBe(0)
  })

  it('stops when npm is ended by SIGTERM, of which only the shell between the two is told', async () => {
    const port = await freePort()
    const line = `'${process.execPath}' infra/local/start.mjs --directory '${directory()}' --port ${port}; exit`
    const shell = spawn('sh', ['-c', line], { cwd: ROOT, env: { ...process.env, npm_lifecycle_event: 'start' } })
    await new Promise<void>((resolve) => printedBy(shell, (text) => text.includes('/promote\n') && resolve()))
    shell.kill('SIGTERM')
    // The pipe is open as long as the server is.
    await once(shell, 'close')
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow()
  })

  it('says where it runs when it is started twice, and --fresh deletes nothing then', async () => {
    const first = await start({}, '--port', String(await freePort()))
    const demo = await readDemo()
    const seconds = await Promise.all([start({}), start({}, '--fresh')])
    for (const { exited, output } of seconds) {
      expect(await exited).toBe(1)
      expect(output).toMatch(new RegExp(`^Another npm start is running, at ${demo.base_url}: .*\\n$`))
    }
    expect(await readDemo()).toEqual(demo)
    const path = `/containers/${demo.container_id}/files/${demo.files[0].file_id}/promote`
    const init = { method: 'POST', headers: { authorization: `Bearer ${demo.standard_key}` } }
    expect((await fetch(demo.base_url + path, init)).status).toBe(200)

    // A killed process is no obstacle, and its keys stay valid.
    first.child.kill('SIGKILL')
    await first.exited
    const third = await start({}, '--verbose', '--port', String(await freePort()))
    expect(third.outcome, third.output).toBe('ready')
    const again = await readDemo()
    expect(again.standard_key).toBe(demo.standard_key)
    expect((await fetch(again.base_url + path, init)).status).toBe(200)
    third.child.kill('SIGINT')
    expect(await third.exited).toBe(0)
    expect(third.printedLater(), '--verbose').toContain('"message":"request answered"')
  })
})

describe("npm start with a server of the user's own", () => {
  const own = useStandIns()

  it('uses that server instead of the embedded one', async () => {
    const service = await startStores({
      AWS_ENDPOINT_URL_S3: own().s3Endpoint,
      AWS_ENDPOINT_URL_DYNAMODB: own().dynamoDbEndpoint,
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    })
    const { Contents = [] } = await own().s3.listObjectsV2({ Bucket: own().config.sandboxBucket })
    expect(Contents.length).toBeGreaterThan(5)
    const Key = marshall({ workspace_id: 'ws_full' })
    const { Item } = await own().dynamoDb.getItem({ TableName: own().config.workspacesTable, Key })
    expect(Item).toBeDefined()
    await service.stop()
  })

  it('asks for credentials when the environment has none', async () => {
    const environment = { AWS_ENDPOINT_URL_S3: own().s3Endpoint, AWS_ACCESS_KEY_ID: '' }
    await expect(startStores(environment)).rejects.toThrow('set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  })
})
