import { spawn, spawnSync } from 'node:child_process'

/** util-linux's `script` runs a command in a terminal of its own. */
export const HAS_TERMINAL =
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true

/**
 * Runs a command as someone at a terminal does.
 * @param typing what is typed once the terminal has shown the text before it
 */
export async function runInTerminal(
  command: string,
  env: Record<string, string>,
  typing: [after: string, keys: string][] = [],
): Promise<{ code: number | null; shown: string }> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const environment = { PATH, NODE_COMPILE_CACHE, TERM: 'xterm-256color', ...env }
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], { env: environment })
  let shown = ''
  let seen = 0
  const type = () => {
    for (let [next] = typing; next !== undefined; [next] = typing) {
      const at = shown.indexOf(next[0], seen)
      if (at < 0) return
      seen = at + next[0].length
      child.stdin.write(next[1])
      typing.shift()
    }
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    type()
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, shown }
}
