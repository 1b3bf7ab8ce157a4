import { existsSync, globSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT, read } from './pages.ts'

const PAGES = globSync(['*.md', '{docs,settings}/**/*.md'], { cwd: ROOT })
const SOURCES = globSync(['{functions,infra,lib}/**/*.{ts,mjs,cjs,yml}', 'serverless.yml'], { cwd: ROOT })

/** Pages of Markdown are cited from anywhere, other files by a path that begins with a folder of ours. */
const CITATIONS = [
  /(?<![\w./*}-])(?:[\w.-]+\/)*[\w.-]+\.md\b/g,
  /(?<![\w./*}-])(?:docs|functions|infra|lib|test)\/[\w./-]+\.(?:ya?ml|[cm]?[jt]s|json|py)\b/g,
]

/** Packages are installed beside some of the tests. */
const ours = { cwd: ROOT, exclude: ['**/node_modules/**'] }
const FILES = globSync(['{docs,functions,infra,lib,settings,test,.ci,.github}/**/*', '*'], ours)
/** All of a page, and the comments of any other file. */
const prose = (file: string) =>
  read(file)
    .split('\n')
    .filter((line) => file.endsWith('.md') || /^\s*(?:\/?\*|\/\/|#)/.test(line))

/** A file of ours without its folder; one with its folder is in CITATIONS. */
const BARE_NAME = /(?<![\w./*}:@-])[a-z][\w-]*\.(?:[cm]?ts|mjs|cjs|ya?ml)\b/g
/** Made by those who deploy. */
const OF_TEAMS = ['prod.yml']

it('benches that are named exist', () => {
  const benches = globSync('test/bench/benches/*.ts', { cwd: ROOT }).map((file) => basename(file, '.ts'))
  const named = [...PAGES, ...SOURCES].flatMap((file) =>
    [...read(file).matchAll(/npm run bench -- ([a-z][a-z -]*)/g)].flatMap(([, names = '']) => names.trim().split(' ')),
  )
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter((name) => !benches.includes(name))).toEqual([])
})

it('no page, comment or message cites a file that is not there', () => {
  const others = globSync(['{.ci,.github}/**/*', '{docs,settings,test}/**/*.{ts,mjs,yml,py}', '*.ts'], ours)
  const files = [...PAGES, ...SOURCES, ...others].filter((file) => statSync(join(ROOT, file)).isFile())
  const found = files.flatMap((file) => {
    const folders = [ROOT, join(ROOT, 'docs'), join(ROOT, dirname(file))]
    // Tests make up names, but not in their comments.
    const lines = file.startsWith('test/') ? prose(file) : read(file).split('\n')
    return lines
      .flatMap((line) => CITATIONS.flatMap((citation) => line.match(citation) ?? []))
      .filter((cited) => !folders.some((folder) => existsSync(join(folder, cited))))
      .map((cited) => `${file}: ${cited}`)
  })
  expect(found, found.join('\n')).toEqual([])
})

it('no page or comment names a source file that is nowhere', () => {
  const names = new Set([...FILES.map((file) => basename(file)), ...OF_TEAMS])
  const files = FILES.filter((file) => /\.(md|[cm]?ts|mjs|cjs|ya?ml)$/.test(file) && file !== 'CHANGELOG.md')
  const found = files.flatMap((file) => {
    const cited = prose(file).flatMap((line) => line.match(BARE_NAME) ?? [])
    return cited.filter((name) => !names.has(name)).map((name) => `${file}: ${name}`)
  })
  expect(found, found.join('\n')).toEqual([])
})
