import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it, vi } from 'vitest'
import { run } from '../support/machine/program.ts'
import { startStores } from '../support/machine/services.ts'
import { freePort, useNpmStart } from '../support/machine/use-npm-start.ts'
import { CREDENTIALS, useStandIns } from '../support/stores/stand-ins.ts'

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
    const { Contents = [] } = await own().s3.send(new ListObjectsV2Command({ Bucket: own().config.sandboxBucket }))
    expect(Contents.length).toBeGreaterThan(5)
    const Key = marshall({ workspace_id: 'ws_full' })
    const { Item } = await own().dynamoDb.send(new GetItemCommand({ TableName: own().config.workspacesTable, Key }))
    expect(Item).toBeDefined()
    await service.stop()
  })

  it('asks for credentials when the environment has none', async () => {
    const environment = { AWS_ENDPOINT_URL_S3: own().s3Endpoint, AWS_ACCESS_KEY_ID: '' }
    await expect(startStores(environment)).rejects.toThrow('set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  })
})
