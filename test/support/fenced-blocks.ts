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

/** Python with its libraries, aws and rclone are not on every machine: the project itself does not need them. Warns if not. */
export async function isInstalled(where: string, language: string, text: string, env = process.env): Promise<boolean> {
  const [imports = ''] = /^from .*$/m.exec(text) ?? []
  const [, tool] = /^(aws|rclone) /m.exec(text) ?? []
  const [command, ...args] = language === 'python' ? ['python3', '-c', imports] : [tool, '--version']
  if (command === undefined) return true
  const isThere = await promisify(execFile)(command, args, { env }).then(Boolean, () => false)
  if (!isThere) console.warn(`\n*** NOT RUN: ${where}, which needs ${command} or a library that is not installed ***\n`)
  return isThere
}
