import { cp, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { run } from '../support/machine/program.ts'
import { ROOT, useService } from '../support/machine/services.ts'

const TOOLS = join(ROOT, 'test/node_modules')
const API = join(ROOT, 'docs/openapi.yaml')
const COMPILER_OPTIONS = {
  ...{ strict: true, noUncheckedIndexedAccess: true, noEmit: true, skipLibCheck: true, types: ['node'] },
  ...{ target: 'es2024', module: 'esnext', moduleResolution: 'bundler', allowImportingTsExtensions: true },
  typeRoots: [join(ROOT, 'node_modules/@types')],
}
const PRINTED =
  /^a\.csv 4 undefined\na,b\n+1\npromoted file_\w+\npromoted file_\w+\nrefused container_file_not_found\nrestored 4\nrestored 4\n$/

describe('clients generated from docs/openapi.yaml', () => {
  const service = useService()
  let directory: string
  const node = (tool: string, ...args: string[]) => run(process.execPath, [join(TOOLS, tool), ...args])
  beforeAll(async () => {
    directory = await mkdtemp(join(service().directory, 'typed-'))
    await cp(join(import.meta.dirname, 'typed-clients'), directory, { recursive: true })
    await symlink(TOOLS, join(directory, 'node_modules'))
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }))
    await node('openapi-typescript/bin/cli.js', API, '-o', join(directory, 'openapi.ts'))
    await node('@hey-api/openapi-ts/bin/run.js', '-s', '-i', API, '-o', join(directory, 'hey'))
  })

  it('compile with their programs, strictly', async () => {
    const { stdout } = await node('typescript-7/bin/tsc', '-p', directory).catch((failure) => failure)
    expect(stdout).toBe('')
  })

  it.each(['openapi-fetch', 'hey-api'])('%s: make a tenant and promote a file and a run', async (name) => {
    const workspaceId = service().newWorkspaceId()
    const bytes = Buffer.from('a,b\n')
    for (const path of ['a.csv', 'b.csv']) await service().putFile(workspaceId, 'sess_typed', path, bytes)
    const key = (await service().admin('keys', 'create', '--platform', '--expires', '1d')).stdout.trim()
    const outfile = join(directory, `${name}.mjs`)
    await build({
      entryPoints: [join(directory, `${name}.ts`)],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
    })
    const own = { PLATFORM_KEY: key, WORKSPACE: workspaceId, CONTAINER: 'sess_typed' }
    const env = { ...process.env, ...own, BASE_URL: service().demo.base_url }
    expect((await run(process.execPath, [outfile], { env })).stdout).toMatch(PRINTED)
  })
})
