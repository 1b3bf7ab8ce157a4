import { createHash } from 'node:crypto'
import { globSync } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { buildFunctions } from './build.ts'

/** The sources of the bundles; the lock file stands for the packages. */
const SOURCES = ['{functions,lib}/**/*.ts', 'infra/bundle/*.ts', 'package.json', 'package-lock.json', 'tsconfig.json']

/** For local runs and tests: builds the bundles in outDir unless they were built from this very source. */
export async function buildIfChanged(where: { root: string; outDir: string }): Promise<void> {
  const recordFile = join(where.outDir, 'built.json')
  // The hash is taken before the build: if a source is saved meanwhile, the next call builds again.
  const hash = await hashOfSources(where.root)
  if (await isUpToDate(where.root, recordFile, hash)) return

  await rm(recordFile, { force: true })
  const metafile = await buildFunctions(where)
  await writeFile(recordFile, JSON.stringify({ hash, metafile }))
}

async function isUpToDate(root: string, recordFile: string, hash: string): Promise<boolean> {
  try {
    const built: { hash: string; metafile: Metafile } = JSON.parse(await readFile(recordFile, 'utf8'))
    const outputs = Object.entries(built.metafile.outputs)
    const sizes = await Promise.all(outputs.map(async ([file]) => (await stat(join(root, file))).size))
    return built.hash === hash && outputs.every(([, { bytes }], index) => sizes[index] === bytes)
  } catch {
    // Something is missing or cannot be read.
    return false
  }
}

async function hashOfSources(root: string): Promise<string> {
  const files = globSync(SOURCES, { cwd: root }).sort()
  const hash = createHash('sha256')
  for (const file of files) hash.update(`\0${file}\0`).update(await readFile(join(root, file)))
  return hash.digest('hex')
}
