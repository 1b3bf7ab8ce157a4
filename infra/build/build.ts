import { globSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import { requireBudget, zippedBytes } from './budget.ts'
import { LEAN_SDK } from './lean-sdk.ts'

export const PROMOTE_ENTRY = 'functions/promote-container-file.ts'

const OPTIONS = {
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
} satisfies BuildOptions

/** Bundles entries below root into outDir, as ES modules that share their common parts. */
export async function bundle(
  entryPoints: string[],
  { root, outDir }: { root: string; outDir: string },
): Promise<Metafile> {
  await rm(outDir, { recursive: true, force: true })
  return (await build({ ...OPTIONS, absWorkingDir: root, entryPoints, outdir: outDir })).metafile
}

/**
 * Bundles every Lambda entry of functions/ into outDir. What a cold start does not need (the table of media types) ends up
 * in chunks that are loaded on demand.
 * @throws Error when the promote function is larger than its budget
 * @returns what esbuild knows about inputs and outputs
 */
export async function buildFunctions(where: { root: string; outDir: string }): Promise<Metafile> {
  const metafile = await bundle(globSync('functions/*.ts', { cwd: where.root }), where)
  const promote = { root: where.root, entryPoint: PROMOTE_ENTRY, metafile }
  requireBudget(PROMOTE_ENTRY, await zippedBytes(promote))
  return metafile
}

if (import.meta.main) {
  const root = new URL('../..', import.meta.url).pathname
  const { outputs } = await buildFunctions({ root, outDir: `${root}dist` })
  for (const [file, { bytes, entryPoint }] of Object.entries(outputs)) {
    if (entryPoint?.startsWith('functions/')) console.log(`${file}  ${(bytes / 1024).toFixed(0)} KiB and its chunks`)
  }
}
