import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runCommandLine } from '../../../infra/cli/command-line.ts'
import { withEnvironment } from './own-environment.ts'

export const ROOT = join(import.meta.dirname, '../../..')

/** Never reached, even on a busy machine. */
const RETRY_FOR_MS = 110_000

export interface AdminResult {
  code: number
  stdout: string
  stderr: string
}

type Environment = Record<string, string | undefined>

/**
 * Runs npm run admin -- … within this process, with no environment but `env`.
 * @param meanwhile happens while it asks somebody at a terminal, who then says yes
 * @returns its exit code and what it printed
 */
export async function runAdmin(args: string[], env: Environment = {}, meanwhile?: () => unknown): Promise<AdminResult> {
  const terminal = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const { stdin, stderr: shown } = terminal
  if (meanwhile) for (const stream of [stdin, shown]) Object.assign(stream, { isTTY: true })
  else stdin.end()
  shown.on('data', async (text) => {
    if (!`${text}`.includes('[y/N]')) return
    await meanwhile?.()
    stdin.write('y\n')
  })
  const printed = Promise.all([text(terminal.stdout), text(terminal.stderr)])
  const signal = AbortSignal.timeout(RETRY_FOR_MS)
  const code = await withEnvironment(env, () => runCommandLine(args, terminal, signal))
  terminal.stdout.end()
  terminal.stderr.end()
  const [stdout, stderr] = await printed
  return { code, stdout, stderr }
}

/**
 * Runs the same as a process of its own, for what only that can show: its exit code, its end, signals. Besides `env`,
 * it has the PATH and the compile cache. @param interruption when Ctrl-C is pressed
 */
export function runAdminProcess(
  args: string[],
  env: Environment = {},
  interruption?: Promise<unknown>,
): Promise<AdminResult> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  return new Promise((resolve) => {
    const options = { cwd: ROOT, env: { PATH, NODE_COMPILE_CACHE, ...env }, timeout: RETRY_FOR_MS }
    const command = [join(ROOT, 'infra/cli/main.ts'), ...args]
    const child = execFile(process.execPath, command, options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
    void interruption?.then(() => child.kill('SIGINT'))
  })
}

/** The commands that the help lists: keys create, doctor, … */
export async function commandNames(): Promise<string[]> {
  const namesIn = async (...group: string[]) => {
    const { stdout } = await runAdmin([...group, '--help'])
    const [, list = ''] = /\nCommands:\n(.*?)\n\n/s.exec(stdout) ?? []
    return [...list.matchAll(/^ {2}(?!help)([a-z-]+) /gm)].map(([, name]) => [...group, name].join(' '))
  }
  const groups = await namesIn()
  return (await Promise.all(groups.map(async (group) => [group, ...(await namesIn(group))]))).flatMap(
    ([group = '', ...names]) => (names.length > 0 ? names : [group]),
  )
}

/** The objects that --json printed. */
export function jsonLines({ stdout }: AdminResult): Record<string, unknown>[] {
  const lines = stdout.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line))
}
