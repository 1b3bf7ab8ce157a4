import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import { OpenRouter } from '@openrouter/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isInstalled } from '../support/fenced-blocks.ts'
import { run } from '../support/machine/program.ts'
import { ROOT, useService } from '../support/machine/services.ts'
import { type FaultProxy, startFaultProxy } from '../support/protocol/fault-proxy.ts'

const PAGE = readFileSync(join(ROOT, 'docs/clients.md'), 'utf8')
const BLOCKS = readBlocks()
const MANY = 'Keep everything of a run'
const RUNNABLE = BLOCKS.filter(({ title, language }) => language !== '' && title !== MANY)
const COMMANDS: Record<string, [command: string, file: string]> = {
  js: [process.execPath, 'client.mjs'],
  python: ['python3', 'client.py'],
  sh: ['sh', 'client.sh'],
}
const REPORT = Buffer.from('row,sensor,value\n1,sensor-0,0.5\n')

/** The headings of the page, each with the code below it. */
function readBlocks(): { title: string; language: string; code: string }[] {
  const blocks = []
  for (const [, title, language, code] of PAGE.matchAll(/^## (.+)$|^```(js|python|sh)\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) blocks.push({ title, language: '', code: '' })
    else Object.assign(blocks.at(-1) ?? {}, { language, code })
  }
  return blocks
}

const service = useService()
let directory: string
let proxy: FaultProxy
beforeAll(async () => {
  proxy = await startFaultProxy(new URL(service().demo.base_url).origin)
  directory = await mkdtemp(join(service().directory, 'clients-'))
  await symlink(join(ROOT, 'test/node_modules'), join(directory, 'node_modules'))
})
afterAll(() => proxy?.stop())

describe('docs/clients.md', () => {
  it('has a block for each library, for Python and for curl', () => {
    expect(RUNNABLE.map(({ title }) => title)).toEqual([
      'OpenRouter (`@openrouter/sdk`)',
      'OpenAI (`openai`)',
      'Anthropic (`@anthropic-ai/sdk`)',
      'Python (`openai`)',
      'Python (`anthropic`)',
      'curl',
      'Promote exactly that file',
    ])
  })

  it.each(RUNNABLE)('$title: the block does the whole life of a file, though an answer is lost', async (block) => {
    if (!(await isInstalled(`"${block.title}" of docs/clients.md`, block.language, block.code))) return
    const workspaceId = service().newWorkspaceId()
    const apiKey = await service().newKey(workspaceId)
    await service().putFile(workspaceId, 'sess_clients', 'output/report.csv', REPORT)
    const [command, file] = COMMANDS[block.language] as [string, string]
    await writeFile(join(directory, file), block.code)
    const promotions = () => proxy.calls.filter(({ path }) => path.endsWith('/promote')).length
    proxy.calls.length = 0
    proxy.fault = ({ path }) => (path.endsWith('/promote') && promotions() === 1 ? { kind: 'lose_answer' } : undefined)
    const own = { API_KEY: apiKey, CONTAINER_ID: 'sess_clients', TOOL_CALL_ID: 'call_1' }
    const env = { ...process.env, ...own, BASE_URL: `${proxy.endpoint}/v1` }
    const runBlock = () => run(command, [file], { cwd: directory, env })
    // All libraries repeat by themselves; curl's user does, with the same TOOL_CALL_ID.
    const { stdout } = await (block.language === 'sh' ? runBlock().catch(runBlock) : runBlock())
    expect(promotions()).toBe(2)
    const bytes = await readFile(join(directory, 'report.csv'))
    expect(bytes.equals(REPORT)).toBe(true)
    expect(stdout).toMatch(/file_[1-9A-HJ-NP-Za-km-z]+/)
    const left = await service().ask('GET', '/files', { key: apiKey })
    expect([left.headers.get('storage-used-bytes'), left.body.data]).toEqual(['0', []])
  })
})

describe(`docs/clients.md, "${MANY}"`, () => {
  const [, section = ''] = PAGE.split(`## ${MANY}\n`)
  const blocks = [...(section.split('\n## ')[0] ?? '').matchAll(/(\w+)\W*:\n\n(?:<!--.*\n)?```js\n([\s\S]*?)^```$/gm)]
  const [, , loop = ''] = blocks.pop() ?? []
  const programs = blocks.map(([, library = '', post = '']): [string, string] => [library, post + loop])
  const paths = Array.from({ length: 12 }, (_, number) => `output/${10 + number}.csv`)

  it('has a program for each library', () => {
    expect(programs.map(([library]) => library)).toEqual(['fetch', 'OpenAI', 'Anthropic'])
  })

  it.each(programs)(
    '%s: keeps each file once, though an answer is lost and the rate limit refuses more',
    async (...program) => {
      const [library, code] = program
      const workspaceId = service().newWorkspaceId()
      const key = ['--workspace', workspaceId, '--management', '--requests-per-minute', '60', '--yes']
      const apiKey = (await service().admin('keys', 'create', ...key)).stdout.trim()
      for (const path of paths) await service().putFile(workspaceId, 'sess_clients', path, REPORT)
      await writeFile(join(directory, 'many.mjs'), code)
      proxy.calls.length = 0
      proxy.fault = () => (proxy.calls.length === 1 ? { kind: 'lose_answer' } : undefined)
      const env = { ...process.env, API_KEY: apiKey, CONTAINER_ID: 'sess_clients', BASE_URL: `${proxy.endpoint}/v1` }
      const runProgram = () => run(process.execPath, ['many.mjs'], { cwd: directory, env })
      // fetch repeats nothing by itself.
      const { stdout } = await (library === 'fetch' ? runProgram().catch(runProgram) : runProgram())
      const lines = stdout.trim().split('\n')
      expect(lines).toEqual(paths.map((path) => expect.stringMatching(`^(kept|promoted) ${path} file_\\w+$`)))
      const left = await service().ask('GET', '/files', { key: await service().newKey(workspaceId) })
      expect(left.body.data.map(({ filename }: { filename: string }) => filename).toSorted()).toEqual(paths)
    },
  )
})

describe('the table of methods', () => {
  const LIBRARIES = ['OpenRouter', 'OpenAI', 'Anthropic']
  const [, , ...rows] = (/^\| Tests, by[\s\S]+?(?=\n\n)/m.exec(PAGE)?.[0] ?? '')
    .split('\n')
    .map((line) => line.slice(2, -2).split(' | '))
  const tests = ['files', 'errors']
    .map((subject) => readFileSync(join(ROOT, `test/machine/vendor-libraries-${subject}.test.ts`), 'utf8'))
    .join('\n')
  const methodsIn = (cell = '') => [...cell.matchAll(/`(\w[^`]*)`/g)].map(([, name]) => name)

  it.each(rows)('%s: by tests that exist', (title, ...cells) => {
    const perMethod = LIBRARIES.flatMap((library, i) => methodsIn(cells[i]).map((name) => `'${library} ${name}'`))
    for (const test of title === 'not offered' ? perMethod : [title]) expect(tests).toContain(test)
  })

  const named = (library: string) => {
    const names = rows.flatMap((cells) => methodsIn(cells[1 + LIBRARIES.indexOf(library)]))
    return library === 'Anthropic' ? names.flatMap((name) => [name, `beta.${name}`]) : names
  }

  /** Methods of a resource of a library, and of those inside it. */
  function methodsOf(resource: object, prefix: string): string[] {
    const own = Object.getOwnPropertyNames(Object.getPrototypeOf(resource))
      .filter((name) => name !== 'constructor' && !name.startsWith('_'))
      .filter((name) => typeof (resource as Record<string, unknown>)[name] === 'function')
      .map((name) => `${prefix}.${name}`)
    const inner = Object.entries(resource)
      .filter(([name, value]) => !name.startsWith('_') && value?.constructor?.name?.match(/^(Files|Content|Parts)$/))
      .flatMap(([name, value]) => methodsOf(value as object, `${prefix}.${name}`))
    return [...own, ...inner]
  }

  const clients = [
    new OpenRouter({ apiKey: 'x' }),
    new OpenAI({ apiKey: 'x' }),
    new Anthropic({ apiKey: 'x' }),
  ] as const
  const [openRouter, openAi, anthropic] = clients
  it.each<[string, Record<string, object>]>([
    ['OpenRouter', { files: openRouter.files, containers: openRouter.containers }],
    ['OpenAI', { files: openAi.files, containers: openAi.containers }],
    ['Anthropic', { files: anthropic.files, 'beta.files': anthropic.beta.files }],
  ])('has every file and container method of %s', (library, resources) => {
    const expected = Object.entries(resources).flatMap(([name, resource]) => methodsOf(resource, name))
    expect(expected.length).toBeGreaterThan(4)
    expect(named(library)).toEqual(expect.arrayContaining(expected))
  })
})
