import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { describe, expect, inject, it } from 'vitest'
import { filesOf } from '../../infra/bundle/build.ts'
import { requireTargets } from '../../infra/bundle/lean-sdk.ts'
import { ROOT, read } from '../pages/pages.ts'
import { PROMOTE_ENTRY, zipBudgetBytes, zippedBytes } from '../support/template/zips.ts'

/** As every suite runs it, and as it is deployed. */
const metafile: Metafile = JSON.parse(readFileSync(join(inject('runDirectory'), 'metafile.json'), 'utf8'))
/** A cold start reads these. */
const outputs = filesOf({ root: ROOT, entryPoint: PROMOTE_ENTRY, metafile }, 'static')

// docs/decisions/0013-lean-bundle.md.
it.each(globSync('functions/*.ts', { cwd: ROOT }))('%s is within its budget', async (entryPoint) => {
  // What came in: npm run bench -- zip. Raise it only for something that is worth it.
  expect(await zippedBytes({ root: ROOT, entryPoint, metafile })).toBeLessThanOrEqual(zipBudgetBytes(entryPoint))
})

it('ships no chunk that nothing loads', () => {
  const entryPoints = globSync('functions/*.ts', { cwd: ROOT })
  const loaded = entryPoints.flatMap((entryPoint) => filesOf({ root: ROOT, entryPoint, metafile }, 'all'))
  expect(Object.keys(metafile.outputs).toSorted()).toEqual(loaded.toSorted())
})

describe('a cold start reads', () => {
  it('no configuration file', () => {
    const inputs = outputs.flatMap((file) => Object.keys(metafile.outputs[file]?.inputs ?? {})).join('\n')
    expect(inputs).toContain('loadSharedConfigFiles')
    expect(inputs).not.toMatch(/shared-ini-file-loader\/(parseIni|getConfigData|readFile)/)
  })

  it("Node's own modules without importing them", () => {
    // A minifier may choose backticks.
    const code = outputs.map(read).join('\n').replaceAll('`', '"')
    // Not the bundle itself, which would fill the report.
    const isIn = (text: string) => code.includes(text)
    const required = ['https', 'crypto', 'zlib'].map((name) => `process.getBuiltinModule("node:${name}")`)
    expect(required.filter((text) => !isIn(text))).toEqual([])
    expect(
      ['from"node:http', 'import("node:http', 'from"http', 'from"node:crypto"', 'from"crypto"'].filter(isIn),
    ).toEqual([])
  })
})

// The build itself does the same with what it has found.
it('a rewriting that finds no module fails the build, and is named', () => {
  expect(() => requireTargets([])).toThrow('HeaderFormatter')
})
