import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unzipSync } from 'fflate'
import type { Packaged } from './packages.ts'

/** Unzips the artifact of a function, by its name in serverless.yml, as Lambda does into /var/task. @returns the folder */
export async function unzipFunction(service: Packaged, functionName: string, directory: string): Promise<string> {
  const task = join(directory, functionName)
  for (const [name, bytes] of Object.entries(unzipSync(await service.artifact(functionName)))) {
    if (name.endsWith('/')) continue
    await mkdir(dirname(join(task, name)), { recursive: true })
    await writeFile(join(task, name), bytes)
  }
  return task
}
