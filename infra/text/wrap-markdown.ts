// Run by npm run format; test/docs/prose.test.ts holds it.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const WIDTH = 120
const ROOT = join(import.meta.dirname, '../..')

/** Every page, below the root. */
export const MARKDOWN = ['*.md', '{docs,settings}/**/*.md']

const FENCE = /^\s*```/
/** Tables, headings, comments, images and indented code stay as they are. */
const AS_IT_IS = /^(\||#|<!--|!\[| {4}|\s*$)/
const ITEM = /^\s*(?:[-*]|\d+\.) +/
/** Paragraphs whose line breaks are meant: the parts of a runbook. */
const LABEL = /^\*\*(Means|Look at|Do):\*\*/
/** At the start of a line it would begin a list, a quotation or a heading. */
const NOT_FIRST = /^(?:[-+*>#]+|\d+[.)])$/

/** The same Markdown with paragraphs and list items broken at 120 characters. Code spans are kept whole. */
export function wrapMarkdown(text: string): string {
  const lines = text.split('\n')
  const wrapped: string[] = []
  let paragraph: string[] = []
  let isInFence = false
  const finish = () => {
    if (paragraph.length > 0) wrapped.push(...fill(paragraph))
    paragraph = []
  }
  for (const line of lines) {
    const isFence = FENCE.test(line)
    if (isInFence || isFence || AS_IT_IS.test(line)) {
      finish()
      wrapped.push(line)
      if (isFence) isInFence = !isInFence
      continue
    }
    if (ITEM.test(line) || LABEL.test(line)) finish()
    paragraph.push(line)
  }
  finish()
  return wrapped.join('\n')
}

function fill([first = '', ...others]: string[]): string[] {
  const lead = ITEM.exec(first)?.[0] ?? /^\s*/.exec(first)?.[0] ?? ''
  const words = wordsOf([first.slice(lead.length), ...others].join(' '))
  const lines: string[] = []
  let line = lead + (words.shift() ?? '')
  for (const word of words) {
    if (line.length + 1 + word.length <= WIDTH || NOT_FIRST.test(word)) {
      line += ` ${word}`
    } else {
      lines.push(line)
      line = ' '.repeat(lead.length) + word
    }
  }
  return [...lines, line]
}

/** Between blanks, but not within `code spans`. */
function wordsOf(text: string): string[] {
  return text.match(/(?:`[^`]*`|[^\s`]|`)+/g)?.map((word) => word.replace(/\s+/g, ' ')) ?? []
}

if (import.meta.main) {
  for (const file of globSync(MARKDOWN, { cwd: ROOT }).map((name) => join(ROOT, name))) {
    const text = readFileSync(file, 'utf8')
    const wrapped = wrapMarkdown(text)
    if (wrapped !== text) writeFileSync(file, wrapped)
  }
}
