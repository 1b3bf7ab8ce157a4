import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export interface FencedBlock {
  language: string
  text: string
  /** The number of its first line. */
  line: number
  /** Why it is not run, if a comment before it says so: <!-- not run: … --> */
  notRun: string | undefined
}

/** The fenced blocks of a Markdown page, in their order. */
export function fencedBlocks(page: string): FencedBlock[] {
  const blocks: FencedBlock[] = []
  const pattern = /(?:^<!-- not run: (.+?) -->\n+)?^```(\w*)\n([\s\S]*?)^```$/gm
  for (const match of page.matchAll(pattern)) {
    const [, notRun, language = '', text = ''] = match
    const line = page.slice(0, match.index).split('\n').length
    blocks.push({ language, text, line, notRun })
  }
  return blocks
}

/** Python and its libraries are not on every machine: nothing else of the project needs them. Warns if not. */
export async function isInstalled(where: string, language: string, text: string): Promise<boolean> {
  if (language !== 'python') return true
  const imports = /^from .*$/m.exec(text)?.[0] ?? ''
  const isThere = await promisify(execFile)('python3', ['-c', imports]).then(Boolean, () => false)
  if (!isThere) console.warn(`\n*** NOT RUN: ${where}, whose language or library is not installed ***\n`)
  return isThere
}
