import { type ChildProcess, execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

/** Runs a program until it ends, which must be well. */
export const run = promisify(execFile)

/** Stands for programs of these names: scripts of sh, in a directory. @returns an environment that finds them first */
export async function standIn(directory: string, scripts: Record<string, string>): Promise<NodeJS.ProcessEnv> {
  await mkdir(directory, { recursive: true })
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(directory, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(directory, name), 0o755)
  }
  return { ...process.env, PATH: `${directory}${delimiter}${process.env.PATH}` }
}

/** All that a process has printed so far, on both outputs. @param onText is called with all of it when there is more */
export function printedBy(
  { stdout, stderr }: ChildProcess,
  onText: (text: string) => unknown = () => {},
): () => string {
  let printed = ''
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      onText(printed)
    })
  }
  return () => printed
}
