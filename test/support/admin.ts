import { execFile } from 'node:child_process'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../..')

/** Never, on a machine that does something else. */
const PATIENCE_MS = 110_000

export interface AdminResult {
  code: number
  stdout: string
  stderr: string
}

/**
 * npm run admin -- … as a process: its exit code and what it printed. It has nothing of this process's environment but
 * `env`, and the way to programs and to what was compiled before. @param interruption when Ctrl-C is pressed
 */
export function runAdmin(
  args: string[],
  env: Record<string, string | undefined> = {},
  interruption?: Promise<unknown>,
): Promise<AdminResult> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  return new Promise((resolve) => {
    const options = { cwd: ROOT, env: { PATH, NODE_COMPILE_CACHE, ...env }, timeout: PATIENCE_MS }
    const child = execFile(
      process.execPath,
      [join(ROOT, 'infra/admin/main.ts'), ...args],
      options,
      (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
      },
    )
    void interruption?.then(() => child.kill('SIGINT'))
  })
}

/** The objects that --json printed. */
export function jsonLines({ stdout }: AdminResult): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
