import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readServiceDefinition } from '../../infra/local/service-definition.ts'
import { copyProject, PACKAGING_TIMEOUT_MS } from '../support/package/packages.ts'

let root: string
const kept = () => join(root, 'dist/service-local.json')
const read = () => readServiceDefinition(root, 'local')

beforeEach(async () => {
  root = join(await mkdtemp(join(tmpdir(), 'promotion-definition-')), 'project')
  await copyProject(root, ['infra', 'lib'])
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(join(root, '..'), { recursive: true, force: true })
})

describe('what serverless.yml says', () => {
  it('is asked of the framework once, and again when a file or a variable of the environment changed', {
    timeout: PACKAGING_TIMEOUT_MS,
  }, async () => {
    vi.stubEnv('CORS_ALLOWED_ORIGINS', 'https://one.example')
    const first = await read()
    expect(first.environment.CORS_ALLOWED_ORIGINS).toBe('https://one.example')
    // A mark shows whether it is read again.
    const { key } = JSON.parse(await readFile(kept(), 'utf8'))
    const mark = () => writeFile(kept(), JSON.stringify({ key, definition: { ...first, routes: [] } }))
    await mark()
    expect((await read()).routes).toEqual([])

    vi.stubEnv('CORS_ALLOWED_ORIGINS', 'https://two.example')
    const second = await read()
    expect(second.environment.CORS_ALLOWED_ORIGINS).toBe('https://two.example')
    expect(second.routes).toEqual(first.routes)

    vi.stubEnv('CORS_ALLOWED_ORIGINS', 'https://one.example')
    await mark()
    const tables = join(root, 'infra/resources/tables.yml')
    await writeFile(tables, `${await readFile(tables, 'utf8')}# changed\n`)
    expect((await read()).routes).toEqual(first.routes)
  })
})
