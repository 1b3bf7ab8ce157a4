import { spawn } from 'node:child_process'
import { chmod, mkdtemp, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { close, LOOPBACK, listen } from '../../infra/local/loopback.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { read } from '../pages/pages.ts'
import { fencedBlocks, isInstalled } from '../support/fenced-blocks.ts'
import { printedBy } from '../support/machine/program.ts'
import { useService } from '../support/machine/services.ts'
import { type FaultProxy, startFaultProxy } from '../support/protocol/fault-proxy.ts'

const PROGRAMS = fencedBlocks(read('docs/turns.md')).map(({ language, text }) => ({ language, text }))
const PERMISSIONS = ['files:read', 'containers:write', 'files:promote', 'containers:read'] as const

/** Reads and writes its container's files by a mount: one stays, one grows, once for each turn, one is new. */
const AGENT = `#!${process.execPath}
const [, , container] = process.argv
const at = (path) => process.env.MOUNT + container + '/output/' + path
const read = async (path) => (await fetch(at(path))).text()
const put = (path, body) => fetch(at(path), { method: 'PUT', body })
const log = await read('log.txt')
console.log('the agent finds', JSON.stringify(log))
if ((await read('same.csv')) === '') await put('same.csv', 'a,b')
if (!log.includes(container)) await put('log.txt', log + container + ' ')
if (process.env.KILL) process.kill(process.ppid, 'SIGKILL')
await put(container + '.txt', container)
`

const mount = createServer(async (request, response) => {
  const { demo, s3 } = service()
  const object = { Bucket: demo.sandbox_bucket, Key: `sandboxes${request.url}` }
  if (request.method === 'PUT') await s3.putObject({ ...object, Body: await buffer(request) })
  const found = await s3.getObject(object).catch(() => undefined)
  response.end((await found?.Body?.transformToString()) ?? '')
})

// No turn waits.
const service = useService(() => ({ changes: { RATE_LIMIT_PER_MINUTE: '6000' } }))
let [directory, proxy, mountPort] = [] as unknown as [string, FaultProxy, number]
beforeAll(async () => {
  proxy = await startFaultProxy(new URL(service().demo.base_url).origin)
  directory = await mkdtemp(join(service().directory, 'turns-'))
  mountPort = await listen(mount, 0)
  await writeFile(join(directory, 'agent.mjs'), AGENT)
  await chmod(join(directory, 'agent.mjs'), 0o755)
  for (const { language, text } of PROGRAMS) await writeFile(join(directory, fileOf(language)), text)
})
afterAll(() => Promise.all([proxy?.stop(), close(mount)]))

const fileOf = (language: string) => ({ js: 'turn.mjs', python: 'turn.py' })[language] ?? language

/** Where a program is killed: at one of its calls, before or after the service has done it; or by the agent. */
type Kill = { callsLeft: number; when: 'before' | 'after' } | 'in the agent'
/** One to list the documents of each former container, one to put them back, one to promote. */
const callsOf = (containers: string[]) => containers.length + 1

/** A session in a workspace of its own. */
async function newSession(language: string) {
  const workspaceId = service().newWorkspaceId()
  const token = await service().newKey(workspaceId, [...PERMISSIONS])
  const own = { API_KEY: token, BASE_URL: `${proxy.endpoint}/v1`, AGENT: join(directory, 'agent.mjs') }
  const env = { ...process.env, ...own, MOUNT: `http://${LOOPBACK}:${mountPort}/${workspaceId}/` }
  const command = language === 'js' ? process.execPath : 'python3'

  async function turn(containers: string[], kill?: Kill) {
    const killed = { ...env, ...(kill === 'in the agent' && { KILL: 'yes' }) }
    const program = spawn(command, [fileOf(language), ...containers], { cwd: directory, env: killed })
    const printed = printedBy(program)
    proxy.calls.length = 0
    proxy.fault = () => {
      if (kill === undefined || kill === 'in the agent') return undefined
      if (proxy.calls.length !== callsOf(containers) - kill.callsLeft) return undefined
      program.kill('SIGKILL')
      return { kind: kill.when === 'after' ? 'lose_answer' : 'refuse' }
    }
    const code = await new Promise((resolve) => program.once('exit', resolve))
    proxy.fault = () => undefined
    return { code, printed: printed(), calls: proxy.calls.length }
  }
  return { workspaceId, turn }
}

/** Each document's filename and content, by the time of its promotion. */
async function documentsOf(workspaceId: WorkspaceId) {
  const key = await service().newKey(workspaceId)
  const headers = { authorization: `Bearer ${key}` }
  const { data } = (await service().ask('GET', '/files?limit=100', { key })).body
  const contents = data.map(async ({ id, filename }: { id: string; filename: string }) => {
    const content = await fetch(`${service().demo.base_url}/files/${id}/content`, { headers })
    return `${filename}: ${await content.text()}`
  })
  return (await Promise.all(contents)).toSorted()
}

describe('docs/turns.md', () => {
  it('has the program in both languages', () => {
    expect(PROGRAMS.map(({ language }) => language)).toEqual(['js', 'python'])
  })

  it.each(PROGRAMS)(
    '$language: puts back what is kept, lets the agent work, and keeps what is new',
    async (program) => {
      if (!(await isInstalled('docs/turns.md', program.language, program.text))) return
      const { workspaceId, turn } = await newSession(program.language)
      const first = await turn(['s1'])
      expect([first.code, lines(first.printed)]).toEqual([
        0,
        ['the agent finds ""', 'promoted output/log.txt', 'promoted output/s1.txt', 'promoted output/same.csv'],
      ])
      const second = await turn(['s1', 's2'])
      expect([second.code, inOrder(second.printed)]).toEqual([
        0,
        [
          ...['restored output/log.txt', 'restored output/s1.txt', 'restored output/same.csv'],
          ...['the agent finds "s1 "', 'promoted output/log.txt', 'kept output/s1.txt'],
          ...['promoted output/s2.txt', 'kept output/same.csv'],
        ],
      ])
      const third = await turn(['s1', 's2', 's3'])
      expect(third.printed).toContain('the agent finds "s1 s2 "')
      expect(await documentsOf(workspaceId)).toEqual(keptAfter(['s1', 's2', 's3']))
      // Once more, when all is done.
      const again = await turn(['s1', 's2', 's3'])
      expect([again.code, lines(again.printed).filter((line) => line.startsWith('promoted'))]).toEqual([0, []])
      expect(await documentsOf(workspaceId)).toEqual(keptAfter(['s1', 's2', 's3']))
    },
  )

  const KILLS: Kill[] = [2, 1].flatMap((callsLeft) =>
    (['before', 'after'] as const).map((when) => ({ callsLeft, when })),
  )
  KILLS.push('in the agent', { callsLeft: 0, when: 'before' }, { callsLeft: 0, when: 'after' })
  it.each(PROGRAMS)(
    '$language: killed at each call, and while the agent works, until it gets through',
    async (program) => {
      if (!(await isInstalled('docs/turns.md', program.language, program.text))) return
      const { workspaceId, turn } = await newSession(program.language)
      expect((await turn(['s1'])).code).toBe(0)
      const containers = ['s1', 's2']
      for (const kill of KILLS) expect((await turn(containers, kill)).code, JSON.stringify(kill)).toBe(null)
      expect(await turn(containers)).toMatchObject({ code: 0, calls: callsOf(containers) })
      expect(await documentsOf(workspaceId)).toEqual(keptAfter(containers))
    },
  )
})

/** After a turn in each: each file once, but the log, which grew with each. */
const keptAfter = (containers: string[]) =>
  [
    ...containers.map((_, last) => `output/log.txt: ${containers.slice(0, last + 1).join(' ')} `),
    ...containers.map((container) => `output/${container}.txt: ${container}`),
    'output/same.csv: a,b',
  ].toSorted()
/** Without the ids. */
const lines = (printed: string) =>
  printed
    .trim()
    .split('\n')
    .map((line) => line.replace(/ file_\w+$/, ''))
/** Documents of the same millisecond come in any order. */
const inOrder = (printed: string) => [...lines(printed).slice(0, 3).toSorted(), ...lines(printed).slice(3)]
