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
