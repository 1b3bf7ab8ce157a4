import { globSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { build } from 'esbuild'
import semver from 'semver'
import { describe, expect, it } from 'vitest'
import { ROOT, read } from '../pages/pages.ts'

interface LockedPackage {
  engines?: { node?: string } | string[]
  /** Installed only where it fits. */
  optional?: boolean
}

const { dependencies, engines } = JSON.parse(read('package.json'))
const promised: string = engines.node

describe('the promised versions of Node.js', () => {
  it.each(['README.md', '.ci/run'])('are named by %s', (page) => {
    const named = read(page).match(/Node\.js \d[\d.]*[^,;:\n]*?24\b/g)
    expect(named).toEqual(['Node.js 22 (22.18 or newer) or 24'])
  })

  it('are fine with every package, so that npm ci warns of none', () => {
    const locks = ['package-lock.json', 'test/package-lock.json']
    const packages = locks.flatMap((lock) => Object.entries<LockedPackage>(JSON.parse(read(lock)).packages))
    const unfit = packages.flatMap(([path, { engines, optional }]) => {
      const asked = Array.isArray(engines) ? undefined : engines?.node
      return asked === undefined || optional || semver.subset(promised, asked) ? [] : [`${path}: ${asked}`]
    })
    expect(unfit).toEqual([])
  })
})

it('the packages that npm ci --omit=dev installs are all that serving, administering and deploying load', async () => {
  const files = globSync('{functions,infra,lib}/**/*.{ts,js,mjs,cjs}', { cwd: ROOT })
  const { metafile } = await build({
    entryPoints: files.map((file, index) => ({ in: file, out: `${index}` })),
    absWorkingDir: ROOT,
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    outdir: 'unused',
    write: false,
    metafile: true,
  })
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports)
  const names = imports.flatMap(({ path, external }) => (external && /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]) || [])
  const known = new Set([...Object.keys(dependencies), ...builtinModules])
  expect(names.filter((name) => !known.has(name) && !name.startsWith('node:'))).toEqual([])
  expect(names).toContain('commander')
  // Resolved by name.
  expect(dependencies).toMatchObject({ serverless: expect.anything(), 'swagger-ui-dist': expect.anything() })
})
