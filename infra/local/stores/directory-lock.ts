import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { readDemoFile } from './demo-file.ts'

const LOCK = 'lock'

/**
 * Locks a data directory for this process. The lock is LevelDB's own, held by the operating system: it goes with its
 * process however that ends, so there are no stale ones. @throws when another process has it
 */
export async function lockDirectory(directory: string): Promise<ClassicLevel> {
  await mkdir(directory, { recursive: true })
  // Keys and files are the owner's alone.
  await chmod(directory, 0o700)
  const lock = new ClassicLevel(join(directory, LOCK))
  try {
    await lock.open()
    return lock
  } catch (error) {
    const cause = (error as Error).cause as NodeJS.ErrnoException | undefined
    if (cause?.code !== 'LEVEL_LOCKED') throw cause ?? error
    const demo = await readDemoFile(directory).catch(() => undefined)
    const where = demo === undefined ? 'is starting' : `is running, at ${demo.base_url}`
    throw new Error(`Another npm start ${where}: it has the data in ${directory}. Ctrl-C stops it there.`)
  }
}

/** Empties a directory, except for its lock. */
export async function emptyDirectory(directory: string): Promise<void> {
  const others = (await readdir(directory)).filter((name) => name !== LOCK)
  await Promise.all(others.map((name) => rm(join(directory, name), { recursive: true, force: true })))
}
