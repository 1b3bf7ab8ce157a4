import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DynamoDB, waitUntilTableExists } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { tableRows } from '../pages/pages.ts'
import { fencedBlocks } from '../support/fenced-blocks.ts'
import { run } from '../support/machine/program.ts'
import { ROOT, useService } from '../support/machine/services.ts'
import { type FaultProxy, startFaultProxy } from '../support/protocol/fault-proxy.ts'
import { CALLER } from '../support/stores/aws-endpoints.ts'

const PAGE = readFileSync(join(ROOT, 'docs/tenants-and-regions.md'), 'utf8')
const blockOf = (language: string, of: string) =>
  fencedBlocks(PAGE).find((block) => block.language === language && block.text.includes(of))?.text

// Workspaces are erased when these tests let them be, not after a minute.
const service = useService(() => ({ everyMs: 3_600_000 }))
let proxy: FaultProxy
let platformKey: string
beforeAll(async () => {
  proxy = await startFaultProxy(new URL(service().demo.base_url).origin)
  platformKey = (await service().admin('keys', 'create', '--platform', '--may-erase', '--expires', '1d')).stdout.trim()
})
afterAll(() => proxy?.stop())

/** Waits for what comes by itself. */
const soon = <Seen>(look: () => Promise<Seen>) => vi.waitFor(look, { timeout: 90_000, interval: 1000 })

describe('docs/tenants-and-regions.md, "Tenants from a program"', () => {
  it('the program does the whole life of a tenant, though each answer to a change is lost once', async () => {
    const env = { ...process.env, BASE_URL: `${proxy.endpoint}/v1`, PLATFORM_KEY: platformKey, CUSTOMER: 'of_program' }
    const directory = await mkdtemp(join(service().directory, 'tenants-'))
    const program = `${blockOf('js', 'Offboard')}`
    await writeFile(join(directory, 'tenant.mjs'), program)
    await writeFile(join(directory, 'offboard.mjs'), program.replace(/^.. Sign up.*(?=^.. Offboard)/ms, ''))
    const seen = new Set<string>()
    const changes: string[] = []
    proxy.calls.length = 0
    proxy.fault = ({ method, path, body }) => {
      if (method === 'GET') return undefined
      const change = `${method} ${path} ${body}`
      changes.push(`${method} ${path}`)
      if (seen.has(change)) return undefined
      seen.add(change)
      return { kind: 'lose_answer' }
    }
    const { stdout } = await run(process.execPath, ['tenant.mjs'], { cwd: directory, env })
    // Again, when all is done: nothing is left to do.
    await run(process.execPath, ['offboard.mjs'], { cwd: directory, env })
    proxy.fault = () => undefined
    expect(stdout).toContain("workspace_id: 'ws_of_program'")
    expect(stdout).toMatch(/^ws_of_program 0 0$/m)
    // Each twice: sign up, plan, off, on; key, rotation; the end, and once more in the second run.
    const workspace = '/v1/workspaces/ws_of_program'
    const expected = [...Array(8).fill(`PUT ${workspace}`), ...Array(4).fill(`PUT ${workspace}/keys/backend`)]
    expected.push(...Array(3).fill(`PUT ${workspace}/erasure`))
    expect(changes.toSorted()).toEqual(expected.toSorted())
    expect(stdout).toContain("state: 'scheduled'")
    const { demo, functions } = service()
    await functions.invoke(`${demo.environment.SERVICE_NAME}-erase-workspaces`, {})
    const { body: erased } = await service().ask('GET', '/workspaces/ws_of_program/erasure', { key: platformKey })
    expect(erased.state).toBe('verifying')
    // The words of the page.
    const words = (erased.remains as { what: string }[]).map(({ what }) => what)
    expect(words).toHaveLength(8)
    const table = tableRows('docs/tenants-and-regions.md', '## Tenants that leave, and erasure').flat().join()
    for (const word of [...words, 'objects', 'container_files']) expect(table).toContain(`\`${word}\``)
  })

  it('the commands do what they say', async () => {
    const env = { ...process.env, BASE_URL: service().demo.base_url, PLATFORM_KEY: platformKey, CUSTOMER: 'of_curl' }
    const { stdout } = await run('sh', ['-euc', `${blockOf('sh', 'curl')}`], { env })
    const answers = stdout
      .replaceAll('}{', '}\n{')
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers).toMatchObject([
      { quota_bytes: 10 * 2 ** 30, is_new: true },
      { token: expect.stringMatching(/^cfp_/), permissions: ['files:promote'] },
      { disabled: true },
      { state: 'scheduled' },
      { workspace_id: 'ws_of_curl', cancelled: true },
    ])
  })
})

it('"Events": the index is right, in whatever order and however often events come', async () => {
  const { demo, directory, ask } = service()
  const promote = `/containers/${demo.container_id}/files/${demo.files[0]?.file_id}/promote`
  const { body: kept } = await ask('POST', promote)
  const { body: deleted } = await ask('POST', promote)
  await ask('DELETE', `/files/${deleted.id}`)
  const events = await soon(async () => {
    const text = await readFile(join(directory, 'events.ndjson'), 'utf8')
    const all = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(all).toHaveLength(3)
    return all
  })

  const keys = ['workspace_id', 'document_id'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const }))
  const KeySchema = keys.map(
    ({ AttributeName }, n) => ({ AttributeName, KeyType: n === 0 ? 'HASH' : 'RANGE' }) as const,
  )
  const index = { TableName: 'index', BillingMode: 'PAY_PER_REQUEST', AttributeDefinitions: keys, KeySchema } as const
  for (const [name, value] of Object.entries({ ...CALLER, INDEX_TABLE: 'index' })) vi.stubEnv(name, value)
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', demo.dynamodb_endpoint)
  const client = new DynamoDB({})
  await client.createTable(index)
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 0.05 }, { TableName: 'index' })
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  await writeFile(join(directory, 'index.mjs'), `${blockOf('js', 'INDEX_TABLE')}`)
  const { handler } = await import(join(directory, 'index.mjs'))
  for (const event of [...events.toReversed(), ...events, ...events.toReversed()]) await handler(event)
  const { Items = [] } = await client.scan({ TableName: 'index' })
  vi.unstubAllEnvs()
  const there = Object.fromEntries(Items.map((item) => [item.document_id?.S, item.is_there?.BOOL]))
  expect(there).toEqual({ [kept.id]: true, [deleted.id]: false })
})
