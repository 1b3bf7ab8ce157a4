import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'

/** Who uses a data directory. */
export interface Running {
  pid: number
  base_url?: string
}

export type DirectoryLock = Extract<Awaited<ReturnType<typeof lockDirectory>>, { release: unknown }>

const LOCK = 'lock'
const RUNNING = 'running.json'

/**
 * Locks a data directory for this process. The lock is LevelDB's own, held by the operating system: it goes with its
 * process however that ends, so there are no stale ones. @returns who has it, when another process does
 */
export async function lockDirectory(directory: string) {
  await mkdir(directory, { recursive: true })
  // Keys and files are the owner's alone.
  await chmod(directory, 0o700)
  const lock = new ClassicLevel(join(directory, LOCK))
  try {
    await lock.open()
  } catch (error) {
    const cause = (error as Error).cause as NodeJS.ErrnoException | undefined
    if (cause?.code !== 'LEVEL_LOCKED') throw cause ?? error
    // The last process that recorded itself may be gone, and its record missing or half written.
    const running: Promise<Running> = readFile(join(directory, RUNNING), 'utf8').then(JSON.parse)
    return running.catch((): Running => ({ pid: 0 }))
  }
  const file = join(directory, RUNNING)
  // A killed process may have left its record.
  await rm(file, { force: true })
  return {
    /** Records where the service answers, for the next process. */
    announce: (running: Running) => writeFile(file, `${JSON.stringify(running)}\n`),
    /** Empties the directory, except for the lock. */
    async empty() {
      const others = (await readdir(directory)).filter((name) => name !== LOCK)
      await Promise.all(others.map((name) => rm(join(directory, name), { recursive: true, force: true })))
    },
    async release() {
      await rm(file, { force: true })
      await lock.close()
    },
  }
}
