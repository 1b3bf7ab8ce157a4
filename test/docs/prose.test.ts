import { existsSync, globSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MARKDOWN, wrapMarkdown } from '../../infra/text/wrap-markdown.ts'
import { ROOT, read } from './pages.ts'

const PAGES = globSync(MARKDOWN, { cwd: ROOT })
const SOURCES = globSync(['{functions,infra,lib}/**/*.{ts,mjs,cjs,yml}', 'serverless.yml'], { cwd: ROOT })

/** Built in another language's order, or words of our own where the field has one. */
const NOT_ENGLISH: readonly [RegExp, string][] = [
  [/\b(?:bring|brings|brought)\b[^.\n]{0,30}\balong\b/i, 'existing, your own, with'],
  [/\bmend(?:s|ed|ing)?\b/i, 'repair'],
  [/\bso (?:does|is) it that\b/i, 'and'],
  [/\ba want of\b/i, 'lack of, out of'],
  [/\bhad better\b/i, 'what it does instead'],
  [/\bthat there (?:is|are) none of\b/i, 'unknown'],
]

/** Of Markdown anywhere, of other files below a folder of ours. */
const CITATIONS = [
  /(?<![\w./*}-])(?:[\w.-]+\/)*[\w.-]+\.md\b/g,
  /(?<![\w./*}-])(?:docs|functions|infra|lib|test)\/[\w./-]+\.(?:ya?ml|[cm]?[jt]s|json|py)\b/g,
]
const code = /```[\s\S]*?```/g
const headings = (page: string) =>
  (
    read(page)
      .replace(code, '')
      .match(/^#+ .*/gm) ?? []
  ).map(slugOf)

describe('all Markdown', () => {
  it('is wrapped at 120 characters', () => {
    const others = PAGES.filter((page) => wrapMarkdown(read(page)) !== read(page))
    expect(others, `npm run format wraps ${others.join(', ')}`).toEqual([])
  })

  it('begins a sentence after a block of code with a capital', () => {
    const found = PAGES.flatMap((page) =>
      [...read(page).matchAll(/^```\n\n([a-z][a-z ,]{3,40})/gm)].map(([, words]) => `${page}: ${words}`),
    )
    expect(found, found.join('\n')).toEqual([])
  })

  it('links to pages and headings that are there', () => {
    const broken = PAGES.flatMap((page) =>
      [
        ...read(page)
          .replace(code, '')
          .matchAll(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]*))?\)/g),
      ].flatMap(([link, path, anchor]) => {
        const target = path ? join(dirname(page), path) : page
        const isThere = existsSync(join(ROOT, target))
        const isFound = !isThere || anchor === undefined || !target.endsWith('.md') || headings(target).includes(anchor)
        return isThere && isFound ? [] : [`${page}: ${link}`]
      }),
    )
    expect(broken, broken.join('\n')).toEqual([])
  })
})

it('the English of pages, comments and messages has no phrase of our own making', () => {
  const found = [...PAGES, ...SOURCES].flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) =>
        NOT_ENGLISH.filter(([phrase]) => phrase.test(line)).map(
          ([, better]) => `${file}:${index + 1}: ${line.trim()} (better: ${better})`,
        ),
      ),
  )
  expect(found, found.join('\n')).toEqual([])
})

it('no page, comment or message cites a file that is not there', () => {
  const others = globSync(['{.ci,.github}/**/*', '{docs,settings,test}/**/*.{ts,mjs,yml,py}', '*.ts'], { cwd: ROOT })
  const files = [...PAGES, ...SOURCES, ...others].filter((file) => statSync(join(ROOT, file)).isFile())
  const found = files.flatMap((file) => {
    const folders = [ROOT, join(ROOT, 'docs'), join(ROOT, dirname(file))]
    // Tests make up names, but not in their comments.
    const lines = read(file)
      .split('\n')
      .filter((line) => !file.startsWith('test/') || /^\s*(?:\/?\*|\/\/|#)/.test(line))
    return lines
      .flatMap((line) => CITATIONS.flatMap((citation) => line.match(citation) ?? []))
      .filter((cited) => !folders.some((folder) => existsSync(join(folder, cited))))
      .map((cited) => `${file}: ${cited}`)
  })
  expect(found, found.join('\n')).toEqual([])
})

/** As GitHub makes anchors of headings. */
function slugOf(heading: string): string {
  return heading
    .replace(/^#+ /, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
