import { execFile } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildForDeployment } from '../bundle/build.ts'
import { SERVERLESS_CLI } from './serverless-cli.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'release')
/** With all functions that a stage may have. */
const OF_ALL = ['--stage', 'release', '--param', 'eventBus=default', '--param', 'links=true']

/** The release of a commit has the same bytes wherever and whenever it is built. */
async function writeRelease(): Promise<void> {
  if (await run('git', 'status', '--porcelain')) throw new Error('Commit first: a release is made of a commit.')
  await rm(FOLDER, { recursive: true, force: true })
  // Here, and not by the framework: only the build tells what it bundles.
  const metafile = await buildForDeployment({ root: ROOT, outDir: join(ROOT, 'dist') })
  await writeFile(join(ROOT, 'dist/metafile.json'), JSON.stringify(metafile))
  process.env.PROMOTION_BUILD = 'skip'
  await run(process.execPath, SERVERLESS_CLI, 'package', ...OF_ALL, '--package', FOLDER)
  // The templates are not part of a release: they are made anew for each stage.
  const others = (await readdir(FOLDER)).filter((name) => !name.endsWith('.zip'))
  await Promise.all(others.map((name) => rm(join(FOLDER, name))))
  await run('npx', 'cyclonedx-esbuild', '--output-reproducible', '-o', 'release/bom.json', 'dist/metafile.json')
  await run('sh', '-c', 'export LC_ALL=C && cd release && sha256sum * > SHA256SUMS')
}

async function run(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 })
  return stdout
}

await writeRelease()
console.log(await readFile(join(FOLDER, 'SHA256SUMS'), 'utf8'))
