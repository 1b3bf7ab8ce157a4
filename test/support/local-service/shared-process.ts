import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The local service in a process that outlives the test file that starts it.
 * @param directory where it keeps its data
 * @throws Error when it did not start
 */
export async function startServiceProcess(directory: string): Promise<void> {
  const script = join(import.meta.dirname, 'shared-process-main.ts')
  // A worker's parent is the run.
  const args = [directory, `${process.ppid}`]
  const child = fork(script, args, { detached: true, stdio: 'ignore', execArgv: [] })
  await writeFile(pidFile(directory), `${child.pid}`)
  const [outcome] = await Promise.race([once(child, 'message'), once(child, 'exit')])
  if (outcome !== 'started') throw new Error(`the shared service did not start: ${outcome}`)
  child.disconnect()
  child.unref()
}

/** Does nothing when there is none. */
export async function stopServiceProcess(directory: string): Promise<void> {
  const pid = Number(await readFile(pidFile(directory), 'utf8').catch(() => 0))
  if (pid === 0) return
  for (let isThere = signalTo(pid, 'SIGTERM'); isThere; isThere = signalTo(pid, 0)) await sleep(20)
}

const pidFile = (directory: string) => join(directory, 'pid')

function signalTo(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
