import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'

/**
 * Makes something once for all test files of a run: whoever comes first makes it, the others wait.
 * @param make gets an empty directory, in which it leaves what it made
 * @returns that directory
 */
export async function oncePerRun(name: string, make: (directory: string) => Promise<unknown>): Promise<string> {
  const directory = join(inject('runDirectory'), name)
  const outcomeFile = `${directory}.outcome`
  if (await isFirst(directory)) {
    const failure = await make(directory).then(() => '', explain)
    // It must appear whole or not at all, as others look for it.
    await writeFile(`${outcomeFile}.draft`, failure)
    await rename(`${outcomeFile}.draft`, outcomeFile)
  }
  while (!existsSync(outcomeFile)) await sleep(50)
  const failure = await readFile(outcomeFile, 'utf8')
  if (failure !== '') throw new Error(failure)
  return directory
}

const isFirst = (directory: string) =>
  mkdir(directory).then(
    () => true,
    () => false,
  )

function explain(error: Error & { stdout?: string }): string {
  return `${error.stack}\n${error.stdout ?? ''}`
}
