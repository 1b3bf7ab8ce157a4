import { readFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fencedBlocks } from '../support/fenced-blocks.ts'
import { run } from '../support/machine/program.ts'
import { ROOT, useService } from '../support/machine/services.ts'
import { type FaultProxy, startFaultProxy } from '../support/protocol/fault-proxy.ts'

const PAGE = readFileSync(join(ROOT, 'docs/tenants-and-regions.md'), 'utf8')
const blockOf = (language: string, of: string) =>
  fencedBlocks(PAGE).find((block) => block.language === language && block.text.includes(of))?.text

const service = useService()
let proxy: FaultProxy
let platformKey: string
beforeAll(async () => {
  proxy = await startFaultProxy(new URL(service().demo.base_url).origin)
  platformKey = (await service().admin('keys', 'create', '--platform', '--expires', '1d')).stdout.trim()
})
afterAll(() => proxy?.stop())

const ask = async (method: string, path: string) => {
  const answer = await fetch(`${service().demo.base_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${platformKey}` },
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

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
    // Each twice: sign up, plan; key, rotation; the last key; the end of the key and of the workspace.
    const workspace = '/v1/workspaces/ws_of_program'
    const expected = [...Array(4).fill(`PUT ${workspace}`), ...Array(4).fill(`PUT ${workspace}/keys/backend`)]
    expected.push(...Array(2).fill(`DELETE ${workspace}/keys/backend`))
    expected.push(...Array(2).fill(`PUT ${workspace}/keys/offboarding`), ...Array(2).fill(`DELETE ${workspace}`))
    expect(changes.toSorted()).toEqual(expected.toSorted())
    expect((await ask('GET', '/workspaces/ws_of_program')).status).toBe(404)
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
      { workspace_id: 'ws_of_curl', deleted: true },
    ])
  })
})
