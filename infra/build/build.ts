import { globSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { build, type Metafile } from 'esbuild'
import { requireBudget, zippedBytes } from './budget.ts'
import { LEAN_SDK } from './lean-sdk.ts'

const PROMOTE_ENTRY = 'functions/promote-container-file.ts'

/**
 * Bundles every Lambda entry of functions/ into outDir, as ES modules that share their common parts. What a cold start
 * does not need (credential providers, the table of media types) ends up in chunks that are loaded on demand.
 * @throws Error when the promote function is larger than its budget
 * @returns what esbuild knows about inputs and outputs
 */
export async function buildFunctions({ root, outDir }: { root: string; outDir: string }): Promise<Metafile> {
  await rm(outDir, { recursive: true, force: true })
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: globSync('functions/*.ts', { cwd: root }),
    outdir: outDir,
    bundle: true,
    splitting: true,
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    plugins: LEAN_SDK,
    minify: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  })
  requireBudget(PROMOTE_ENTRY, await zippedBytes({ root, entryPoint: PROMOTE_ENTRY, metafile }))
  return metafile
}

if (import.meta.main) {
  const root = new URL('../..', import.meta.url).pathname
  const { outputs } = await buildFunctions({ root, outDir: `${root}dist` })
  for (const [file, { bytes, entryPoint }] of Object.entries(outputs)) {
    if (entryPoint?.startsWith('functions/')) console.log(`${file}  ${(bytes / 1024).toFixed(0)} KiB and its chunks`)
  }
}
