import { globSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { type BuildOptions, build, type Metafile, type OutputFile } from 'esbuild'
import { minify } from 'rolldown/utils'
import { LEAN_SDK, requireTargets } from './lean-sdk.ts'

/** The root has functions/ and lib/. */
type Where = { root: string; outDir: string }

type OutFile = Pick<OutputFile, 'path' | 'contents'>

const OPTIONS = {
  bundle: true,
  splitting: true,
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  // The library `debug` takes its colours from this if it is there: here, only a development dependency brings it.
  external: ['supports-color'],
  plugins: [LEAN_SDK],
  minify: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions

/**
 * Bundles entries below root into outDir, as ES modules. Each is bundled on its own, with the chunks that it loads on
 * demand below its own name: changing one function does not change another, and a cold start reads few files.
 */
export async function bundle(entries: string[], { root, outDir }: Where): Promise<Metafile> {
  const builds = entries.map(async (entryPoint) => {
    const chunkNames = `chunks/${basename(entryPoint, '.ts')}/[name]-[hash]`
    const own = { chunkNames, absWorkingDir: root, outdir: outDir, write: false } as const
    const { outputFiles, metafile } = await build({ ...OPTIONS, ...own, entryPoints: [entryPoint] })
    // esbuild also makes chunks of what is loaded on demand by code that it has then dropped.
    const loaded = filesOf({ root, entryPoint, metafile }, 'all')
    const reached = outputFiles.filter(({ path }) => loaded.includes(relative(root, path)))
    const files = await Promise.all(reached.map(compress))
    const outputs = files.map(({ path, contents }) => {
      const file = relative(root, path)
      return [file, { ...metafile.outputs[file], bytes: contents.length }]
    })
    return { files, inputs: metafile.inputs, outputs: Object.fromEntries(outputs) }
  })
  const built = await Promise.all(builds)
  const files = built.flatMap((each) => each.files)
  await replaceFiles(outDir, files)
  const inputs = Object.assign({}, ...built.map((each) => each.inputs))
  return { inputs, outputs: Object.assign({}, ...built.map((each) => each.outputs)) }
}

/** Takes 3 % off what esbuild has minified. */
async function compress({ path, text }: OutputFile): Promise<OutFile> {
  const { code, errors } = await minify(path, text, { module: true })
  if (errors.length > 0) throw new Error(`${path} cannot be minified: ${errors[0]?.message}`)
  return { path, contents: Buffer.from(code) }
}

/** Another process may be running or packaging these files, so unchanged ones exist at every moment. */
async function replaceFiles(folder: string, files: OutFile[]): Promise<void> {
  const written = new Set(files.map(({ path }) => path))
  for (const { path, contents } of files) {
    const beside = `${path}.${process.pid}`
    await mkdir(dirname(path), { recursive: true })
    await writeFile(beside, contents)
    await rename(beside, path)
  }
  const all = globSync('**/*.mjs', { cwd: folder }).map((name) => join(folder, name))
  await Promise.all(all.filter((path) => !written.has(path)).map((path) => rm(path, { force: true })))
}

/** The entry is below root, such as functions/promote-container-file.ts. */
type BuiltFunction = { root: string; entryPoint: string; metafile: Metafile }

/** The files a function needs: its entry and every chunk that can be reached from it. With `static`: at load. */
export function filesOf({ entryPoint, metafile: { outputs } }: BuiltFunction, reach: 'all' | 'static'): string[] {
  const entry = Object.keys(outputs).find((file) => outputs[file]?.entryPoint === entryPoint)
  if (entry === undefined) throw new Error(`${entryPoint} was not built`)
  const files = new Set([entry])
  for (const file of files) {
    for (const { path, kind, external } of outputs[file]?.imports ?? []) {
      if (!external && (reach === 'all' || kind === 'import-statement')) files.add(path)
    }
  }
  return [...files]
}

export const buildFunctions = (where: Where) => bundle(globSync('functions/*.ts', { cwd: where.root }), where)

/** Builds for a deployment. @throws Error when the SDK is not as it was */
export async function buildForDeployment(where: Where): Promise<Metafile> {
  const metafile = await buildFunctions(where)
  requireTargets(Object.keys(metafile.inputs))
  return metafile
}

/**
 * One readable file per function, with its source map. They share no chunk, so one build makes all, and reads each module once.
 * @throws Error when the source cannot be built; esbuild has printed why
 */
export async function buildForDebugging({ root, outDir }: Where): Promise<void> {
  const readable = { minify: false, splitting: false, sourcemap: 'inline' } as const
  const where = { absWorkingDir: root, outdir: outDir, write: false } as const
  const entryPoints = globSync('functions/*.ts', { cwd: root })
  const { outputFiles } = await build({ ...OPTIONS, ...readable, ...where, entryPoints })
  await replaceFiles(outDir, outputFiles)
}

if (import.meta.main) {
  const root = new URL('../..', import.meta.url).pathname
  const { outputs } = await buildForDeployment({ root, outDir: `${root}dist` })
  for (const [file, { bytes, entryPoint }] of Object.entries(outputs)) {
    if (entryPoint?.startsWith('functions/')) console.log(`${file}  ${(bytes / 1024).toFixed(0)} KiB and its chunks`)
  }
}
