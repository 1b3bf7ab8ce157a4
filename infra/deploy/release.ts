import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import manifest from '../../package.json' with { type: 'json' }
import { buildForDeployment } from '../bundle/build.ts'
import { SERVERLESS_CLI } from './serverless-cli.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'release')
/** Left out of npm's bill of materials: a random number, and what depends on npm's version. */
const LEFT_OUT = ['serialNumber', 'tools', 'properties']
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/

type Component = { 'bom-ref': string; name: string }
type Dependency = { ref: string; dependsOn: string[] }
type Bom = {
  metadata: { timestamp: string; component: Component }
  components: Component[]
  dependencies: Dependency[]
}

/** The release of a commit has the same bytes wherever and whenever it is built. */
async function writeRelease(): Promise<void> {
  if (await run('git', 'status', '--porcelain')) throw new Error('Commit first: a release is made of a commit.')
  await rm(FOLDER, { recursive: true, force: true })
  // Here, and not by the framework: only the build tells what it bundles.
  const { inputs } = await buildForDeployment({ root: ROOT, outDir: join(ROOT, 'dist') })
  process.env.PROMOTION_BUILD = 'skip'
  // With all functions that a stage may have.
  const ofAll = ['--stage', 'release', '--param', 'eventBus=default', '--param', 'links=true']
  await run(process.execPath, SERVERLESS_CLI, 'package', ...ofAll, '--package', FOLDER)
  // The templates are not part of a release: they are made anew for each stage.
  const others = (await readdir(FOLDER)).filter((name) => !name.endsWith('.zip'))
  await Promise.all(others.map((name) => rm(join(FOLDER, name))))
  await writeFile(join(FOLDER, 'bom.json'), await billOfMaterials(Object.keys(inputs)))
  await writeFile(join(FOLDER, 'SHA256SUMS'), await checksums())
}

async function billOfMaterials(files: string[]): Promise<string> {
  const written = await run('npm', 'sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only')
  const bom: Bom = JSON.parse(written)
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'))
  const paths = files.flatMap((file) => PACKAGE.exec(file) ?? [])
  const bundled = new Set(paths.map((path) => `${path.replace(/^.*node_modules\//, '')}@${packages[path].version}`))
  bom.components = bom.components.filter((component) => bundled.has(component['bom-ref']))
  const refs = new Set([bom.metadata.component, ...bom.components].map((component) => component['bom-ref']))
  bom.dependencies = bom.dependencies.flatMap(({ ref, dependsOn }) =>
    refs.has(ref) ? { ref, dependsOn: dependsOn.filter((each) => refs.has(each)) } : [],
  )
  bom.metadata.timestamp = new Date(Number(await run('git', 'log', '-1', '--format=%ct')) * 1000).toISOString()
  // npm uses the folder's name.
  bom.metadata.component.name = manifest.name
  return `${JSON.stringify(bom, (key, value) => (LEFT_OUT.includes(key) ? undefined : value), 2)}\n`
}

/** In the format of `sha256sum`. */
async function checksums(): Promise<string> {
  const lines = (await readdir(FOLDER)).sort().map(async (name) => {
    const hash = createHash('sha256').update(await readFile(join(FOLDER, name)))
    return `${hash.digest('hex')}  ${name}\n`
  })
  return (await Promise.all(lines)).join('')
}

async function run(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 })
  return stdout
}

await writeRelease()
console.log(await readFile(join(FOLDER, 'SHA256SUMS'), 'utf8'))
