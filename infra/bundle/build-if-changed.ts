import { createHash } from 'node:crypto'
import { globSync } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { buildFunctions } from './build.ts'

interface BuildRecord {
  /** What the bundles were made of, below the root. */
  inputs: string[]
  hash: string
  outputs: { file: string; bytes: number }[]
}

/** Inputs of the build that esbuild does not list. */
const TOOLS = ['functions/*.ts', 'infra/bundle/*.ts', 'package.json', 'package-lock.json', 'tsconfig.json']

/**
 * Bundles as `buildFunctions` does, unless outDir already has the bundles of this source. For local runs and tests;
 * deployments always build.
 * @throws Error when a function is larger than its budget
 */
export async function buildIfChanged(where: { root: string; outDir: string }): Promise<void> {
  const recordFile = join(where.outDir, 'built.json')
  if (await isUpToDate(where.root, recordFile)) return

  await rm(recordFile, { force: true })
  const startedAtMs = Date.now()
  const metafile = await buildFunctions(where)
  const inputs = filesBuiltFrom(where.root, metafile)
  // A source was saved during the build: it is unknown which version was read.
  if (await isAnyNewer(where.root, inputs, startedAtMs)) return
  const record: BuildRecord = {
    inputs,
    hash: await hashOf(where.root, inputs),
    outputs: Object.entries(metafile.outputs).map(([file, { bytes }]) => ({ file, bytes })),
  }
  await writeFile(recordFile, JSON.stringify(record))
}

async function isUpToDate(root: string, recordFile: string): Promise<boolean> {
  try {
    const { inputs, hash, outputs }: BuildRecord = JSON.parse(await readFile(recordFile, 'utf8'))
    const sizes = await Promise.all(outputs.map(({ file }) => stat(join(root, file))))
    return outputs.every(({ bytes }, index) => sizes[index]?.size === bytes) && (await hashOf(root, inputs)) === hash
  } catch {
    // Something is missing or cannot be read.
    return false
  }
}

function filesBuiltFrom(root: string, { inputs }: Metafile): string[] {
  // Modules that a plugin wrote have a namespace before their name: the plugin is among the tools.
  const bundled = Object.keys(inputs).filter((input) => !/^[\w-]+:/.test(input))
  return [...new Set([...globSync(TOOLS, { cwd: root }), ...bundled])].sort()
}

async function hashOf(root: string, files: string[]): Promise<string> {
  const hash = createHash('sha256').update(globSync(TOOLS, { cwd: root }).sort().join('\n'))
  const contents = await Promise.all(files.map((file) => readFile(join(root, file))))
  files.forEach((file, index) => {
    hash.update(`\0${file}\0`).update(contents[index] ?? '')
  })
  return hash.digest('hex')
}

async function isAnyNewer(root: string, files: string[], sinceMs: number): Promise<boolean> {
  const stats = await Promise.all(files.map((file) => stat(join(root, file))))
  return stats.some(({ mtimeMs }) => mtimeMs >= sinceMs)
}
