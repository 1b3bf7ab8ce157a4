import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { printedBy } from '../support/machine/program.ts'
import { freePort } from '../support/machine/use-npm-start.ts'
import { copyProject } from '../support/template/packages.ts'
import { useDirectory } from '../support/use-directory.ts'

const SOURCE = 'lib/http/query.ts'
/** A few seconds; far more on a machine that is busy. */
const STEP_TIMEOUT_MS = 90_000
vi.setConfig({ testTimeout: 3 * STEP_TIMEOUT_MS, hookTimeout: 2 * STEP_TIMEOUT_MS })

const directory = useDirectory('dev')
let child: ChildProcess
let output: () => string
let inspectPort: number

const printed = (text: string) =>
  vi.waitFor(() => expect(output()).toContain(text), { timeout: STEP_TIMEOUT_MS, interval: 50 })

beforeAll(async () => {
  await copyProject(directory(), ['infra', 'lib', 'functions', 'docs'])
  inspectPort = await freePort()
  const { scripts } = JSON.parse(await readFile(join(directory(), 'package.json'), 'utf8'))
  const [, ...script] = scripts.dev.split(' ')
  const ports = [String(inspectPort), '--port', String(await freePort())]
  child = spawn(process.execPath, [...script, ...ports], { cwd: directory() })
  output = printedBy(child)
  await printed('/promote\n')
})
afterAll(() => child.exitCode ?? child.kill('SIGKILL'))

describe('npm run dev', () => {
  it('serves what is saved, and goes on serving what there was while it cannot be built', async () => {
    const source = await readFile(join(directory(), SOURCE), 'utf8')
    const demo = JSON.parse(await readFile(join(directory(), '.local/demo.json'), 'utf8'))
    const listFiles = async () => {
      const headers = { authorization: `Bearer ${demo.standard_key}` }
      const response = await fetch(`${demo.base_url}/files?limit=x`, { headers })
      return ((await response.json()) as { error: { metadata: { detail: string } } }).error.metadata.detail
    }
    const detail = await listFiles()
    const changed = source.replace('limit must be', 'limit has to be')
    expect(changed).not.toBe(source)

    await writeFile(join(directory(), SOURCE), `${source}\nthis is no TypeScript`)
    await printed('not restarted: ')
    expect(await listFiles()).toBe(detail)

    await writeFile(join(directory(), SOURCE), changed)
    await printed('restarted after a change')
    expect(await listFiles()).toBe(detail.replace('must be', 'has to be'))
  })

  it('lets a debugger attach, which sees the source', async () => {
    const targets = await fetch(`http://127.0.0.1:${inspectPort}/json`)
    expect(await targets.json()).toEqual([expect.objectContaining({ type: 'node' })])
    const bundle = await readFile(join(directory(), 'dist/read-documents.mjs'), 'utf8')
    const [, map = ''] = /\/\/# sourceMappingURL=data:application\/json;base64,(.+)/.exec(bundle) ?? []
    expect(JSON.parse(Buffer.from(map, 'base64').toString()).sources).toContain(`../${SOURCE}`)
  })

  it('stops with all its parts when it is killed', async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
    const debuggerAnswers = () => fetch(`http://127.0.0.1:${inspectPort}/json`)
    await vi.waitFor(() => expect(debuggerAnswers()).rejects.toThrow(), { timeout: STEP_TIMEOUT_MS, interval: 50 })
  })
})
