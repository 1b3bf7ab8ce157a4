import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FUNCTIONS, keyOf } from '../../infra/deploy/functions.ts'
import { ROOT } from '../pages/pages.ts'
import { run } from '../support/machine/program.ts'
import { packagedService } from '../support/template/packages.ts'

const GIT = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.com', '-c', 'commit.gpgSign=false']

let folder: string
let project: string
let released: Record<string, Buffer>
let bom: {
  serialNumber?: string
  metadata: { timestamp?: string; component: { name: string } }
  components: { group?: string; name: string }[]
}

/** The source as it is now, as one commit. */
async function commitSource(target: string): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  const files = stdout.split('\0').filter((file) => file !== '' && existsSync(join(ROOT, file)))
  for (const file of files) await cp(join(ROOT, file), join(target, file))
  await run('git', ['init', '-q'], { cwd: target })
  await run('git', ['add', '-A'], { cwd: target })
  await run('git', [...GIT, 'commit', '-qm', 'All'], { cwd: target })
}

beforeAll(async () => {
  // Where node_modules can be linked to.
  await mkdir(join(ROOT, '.test'), { recursive: true })
  folder = await mkdtemp(join(ROOT, '.test/release-'))
  project = join(folder, 'elsewhere/and deeper')
  await commitSource(project)
  // Links: it has 44,000 files.
  await run('cp', ['-RPl', join(ROOT, 'node_modules'), join(project, 'node_modules')])
  const env = { ...process.env, TZ: 'Pacific/Auckland', LC_ALL: 'C' }
  await run('sh', ['-c', 'umask 077 && npm run release'], { cwd: project, env })
  const made = join(project, 'release')
  await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: made })
  const names = (await readdir(made)).sort()
  released = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(join(made, name))])))
  bom = JSON.parse(String(released['bom.json']))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('npm run release', () => {
  it('has, from another folder, time zone and umask, the zips that a stage deploys, a bill of materials, and the sums of both', async () => {
    const zips = FUNCTIONS.map(({ name }) => `${keyOf(name)}.zip`)
    expect(Object.keys(released)).toEqual(['SHA256SUMS', ...zips, 'bom.json'].sort())
    const { artifact } = await packagedService('prod')
    for (const name of FUNCTIONS.map((each) => keyOf(each.name))) {
      expect(released[`${name}.zip`]?.equals(await artifact(name)), name).toBe(true)
    }
  })

  it('has nothing in its bill that is another the next time, or elsewhere', () => {
    expect([bom.serialNumber, bom.metadata.timestamp]).toEqual([undefined, undefined])
    expect(String(released['bom.json'])).not.toContain('deeper')
  })

  it('lists the packages that the functions are bundled of, and none that only serves or deploys', () => {
    expect(bom.metadata.component.name).toBe('container-file-promotion')
    const listed = bom.components.map(({ group, name }) => (group ? `${group}/${name}` : name))
    expect(listed).toEqual(expect.arrayContaining(['@aws-sdk/client-s3', '@middy/core', 'mime', 'file-type']))
    for (const other of ['esbuild', 'commander', 'dynalite', 'vitest']) expect(listed).not.toContain(other)
  })

  it('refuses what is not committed', async () => {
    await writeFile(join(project, 'lib/new.ts'), '')
    await expect(run('node', ['infra/deploy/release.ts'], { cwd: project })).rejects.toThrow('Commit first')
  })
})
