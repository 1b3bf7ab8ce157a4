import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unzipSync } from 'fflate'

/** Unzips the artifact of a function as Lambda does into /var/task. @returns the folder */
export async function unzipFunction(artifact: Uint8Array, task: string): Promise<string> {
  for (const [name, bytes] of Object.entries(unzipSync(artifact))) {
    if (name.endsWith('/')) continue
    await mkdir(dirname(join(task, name)), { recursive: true })
    await writeFile(join(task, name), bytes)
  }
  return task
}
