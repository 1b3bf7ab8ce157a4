import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildIfChanged } from '../../infra/bundle/build-if-changed.ts'

let root: string
const bundleFile = () => join(root, 'dist/greet.mjs')
const build = () => buildIfChanged({ root, outDir: join(root, 'dist') })
const builtAt = async () => (await stat(bundleFile(), { bigint: true })).mtimeNs

const save = (name: string, text: string) => writeFile(join(root, name), text)

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'promotion-build-'))
  await Promise.all(['functions', 'lib'].map((folder) => mkdir(join(root, folder))))
  await save('functions/greet.ts', "import { word } from '../lib/word.ts'\nconsole.log(word)\n")
  await save('lib/word.ts', "export const word = 'good morning'\n")
  await build()
})
afterEach(() => rm(root, { recursive: true, force: true }))

describe('a bundle that is made only when something changed', () => {
  it('is left as it is when nothing did', async () => {
    const before = await builtAt()
    await build()
    expect(await builtAt()).toBe(before)
  })

  it.each<[string, () => Promise<void>, string]>([
    ['a module', () => save('lib/word.ts', "export const word = 'good evening'\n"), 'good evening'],
    ['the lock file', () => save('package-lock.json', '{}'), 'good morning'],
    ['a bundle, by somebody else', () => writeFile(bundleFile(), ''), 'good morning'],
    ['the bundles, which are gone', () => rm(join(root, 'dist'), { recursive: true }), 'good morning'],
    ['what is noted of it', () => writeFile(join(root, 'dist/built.json'), '{'), 'good morning'],
  ])('is made anew after a change of %s', async (_, change, expected) => {
    await change()
    const before = await builtAt().catch(() => undefined)
    await build()
    expect(await builtAt()).not.toBe(before)
    expect(await readFile(bundleFile(), 'utf8')).toContain(expected)
  })

  it('has a new function', async () => {
    await save('functions/leave.ts', "console.log('bye')\n")
    await build()
    expect(await readFile(join(root, 'dist/leave.mjs'), 'utf8')).toContain('bye')
  })

  it('is made again the next time when a source was saved while it was made', async () => {
    await save('lib/word.ts', "export const word = 'good night'\n")
    const building = build()
    await sleep(20)
    await save('lib/word.ts', "export const word = 'good noon'\n")
    await building
    await build()
    expect(await readFile(bundleFile(), 'utf8')).toContain('good noon')
  })
})
