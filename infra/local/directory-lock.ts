import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'

/** Who uses a data directory. */
export interface Running {
  pid: number
  base_url?: string
}

export interface DirectoryLock {
  /** Records where the service answers, for the next process. */
  announce(running: Running): Promise<void>
  /** Empties the directory, except for the lock. */
  empty(): Promise<void>
  release(): Promise<void>
}

const LOCK = 'lock'
const RUNNING = 'running.json'

/**
 * Takes a data directory for this process. The lock is LevelDB's own, held by the operating system: it goes with its
 * process however that ends, so there are no stale ones.
 * @returns who has it, when another process does
 * @throws what the file system says
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock | Running> {
  await mkdir(directory, { recursive: true })
  // Keys and files are the owner's alone.
  await chmod(directory, 0o700)
  const lock = new ClassicLevel(join(directory, LOCK))
  try {
    await lock.open()
  } catch (error) {
    const cause = (error as Error).cause as NodeJS.ErrnoException | undefined
    if (cause?.code === 'LEVEL_LOCKED') return (await readRunning(directory)) ?? { pid: 0 }
    throw cause ?? error
  }
  const file = join(directory, RUNNING)
  // Left by a killed process.
  await rm(file, { force: true })
  return {
    announce: (running) => writeFile(file, `${JSON.stringify(running)}\n`),
    async empty() {
      const entries = await readdir(directory)
      const others = entries.filter((name) => name !== LOCK)
      await Promise.all(others.map((name) => rm(join(directory, name), { recursive: true, force: true })))
    },
    async release() {
      await rm(file, { force: true })
      await lock.close()
    },
  }
}

/** The last process that recorded itself; it may be gone. */
async function readRunning(directory: string): Promise<Running | undefined> {
  // The file may be missing, or half written.
  return readFile(join(directory, RUNNING), 'utf8')
    .then(JSON.parse)
    .catch(() => undefined)
}
