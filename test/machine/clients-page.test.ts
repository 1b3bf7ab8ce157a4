import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Anthropic from '@anthropic-ai/sdk'
import { OpenRouter } from '@openrouter/sdk'
import OpenAI from 'openai'
import { beforeAll, describe, expect, it } from 'vitest'
import { ROOT, useService } from '../support/machine/services.ts'

const PAGE = readFileSync(join(ROOT, 'docs/clients.md'), 'utf8')
const BLOCKS = readBlocks()
const RUNNABLE = BLOCKS.filter(({ language }) => language !== '')
const COMMANDS: Record<string, [command: string, file: string]> = {
  js: [process.execPath, 'client.mjs'],
  python: ['python3', 'client.py'],
  sh: ['sh', 'client.sh'],
}
const REPORT = Buffer.from('row,sensor,value\n1,sensor-0,0.5\n')
const run = promisify(execFile)

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
beforeAll(async () => {
  directory = await mkdtemp(join(service().directory, 'clients-'))
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
})

/** Python and its libraries are not on every machine: nothing else of the project needs them. */
async function isInstalled({ language, code }: (typeof RUNNABLE)[number]): Promise<boolean> {
  if (language === 'js') return true
  const imports = /^from .*$/m.exec(code)?.[0] ?? ''
  const probing = language === 'sh' ? run('curl', ['--version']) : run('python3', ['-c', imports])
  return probing.then(Boolean, () => false)
}

describe('docs/clients.md', () => {
  it('has a block for each library, for Python and for curl', () => {
    expect(RUNNABLE.map(({ title }) => title)).toEqual([
      'OpenRouter (`@openrouter/sdk`)',
      'OpenAI (`openai`)',
      'Anthropic (`@anthropic-ai/sdk`)',
      'Python (`openai`)',
      'Python (`anthropic`)',
      'curl',
    ])
  })

  it.each(RUNNABLE)('$title: the block does the whole life of a file', async (block) => {
    if (!(await isInstalled(block))) {
      console.warn(
        `\n*** NOT RUN: "${block.title}" of docs/clients.md, whose language or library is not installed ***\n`,
      )
      return
    }
    const workspaceId = service().newWorkspaceId()
    const [apiKey, baseUrl] = [await service().newKey(workspaceId), service().demo.base_url]
    await service().putFile(workspaceId, 'sess_clients', 'output/report.csv', REPORT)
    const [command, file] = COMMANDS[block.language] as [string, string]
    await writeFile(join(directory, file), block.code)
    const env = { BASE_URL: baseUrl, API_KEY: apiKey, CONTAINER_ID: 'sess_clients' }
    const { stdout } = await run(command, [file], { cwd: directory, env: { ...process.env, ...env } })
    const bytes = await readFile(join(directory, 'report.csv'))
    expect(bytes.equals(REPORT)).toBe(true)
    expect(stdout).toMatch(/file_[1-9A-HJ-NP-Za-km-z]+/)
    const left = await fetch(`${baseUrl}/files`, { headers: { authorization: `Bearer ${apiKey}` } })
    expect(await left.json()).toMatchObject({ data: [] })
  })
})

describe('the table of methods', () => {
  const rows = PAGE.split('\n')
    .filter((line) => /^\| (OpenRouter|OpenAI|Anthropic) /.test(line))
    .map((line) => line.slice(2, -2).split(' | ') as [string, string, string])
  const tests = ['lists', 'files', 'errors']
    .map((subject) => readFileSync(join(ROOT, `test/machine/vendor-libraries-${subject}.test.ts`), 'utf8'))
    .join('\n')

  it.each(rows)('%s: %s, by tests that exist', (methods, answer, title) => {
    expect(answer).toMatch(/^(works|not offered)/)
    const [library] = methods.split(' ')
    const perMethod = [...methods.matchAll(/`(\w[^`]*)`/g)].map(([, name]) => `'${library} ${name}'`)
    for (const test of answer === 'not offered' ? perMethod : [title]) expect(tests).toContain(test)
  })

  const named = (library: string) =>
    rows
      .filter(([method]) => method.startsWith(`${library} `))
      .flatMap(([method]) => [...method.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ''))

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
