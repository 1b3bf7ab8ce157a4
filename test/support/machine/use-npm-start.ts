import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { close, listen } from '../../../infra/local/loopback.ts'
import { useDirectory } from '../use-directory.ts'
import { printedBy } from './program.ts'

/** What npm start runs. */
const START = join(import.meta.dirname, '../../../infra/local/start.mjs')

/** npm start, on a directory of the file's own. Whatever a test has started and not stopped is killed after it. */
export function useNpmStart() {
  // Its name has a space, as many have.
  const directory = useDirectory('npm start')
  const children: ChildProcess[] = []
  afterEach(() => {
    for (const child of children.splice(0)) child.exitCode ?? child.kill('SIGKILL')
  })

  return {
    directory,

    /** Runs what npm start runs. @returns everything it printed until it was ready or ended */
    async start(env: Record<string, string>, ...args: string[]) {
      const { AWS_ENDPOINT_URL_S3: _, AWS_ENDPOINT_URL_DYNAMODB: __, ...inherited } = process.env
      const own = [START, '--directory', directory(), ...args]
      const child = spawn(process.execPath, own, { env: { ...inherited, ...env } })
      children.push(child)
      const exited = once(child, 'exit').then(([code]) => code as number | null)
      const ready = Promise.withResolvers<'ready'>()
      const printed = printedBy(child, (text) => text.includes('/promote\n') && ready.resolve('ready'))
      const outcome = await Promise.race([ready.promise, exited])
      return { child, exited, outcome, output: printed(), printedLater: printed }
    },

    async readDemo() {
      return JSON.parse(await readFile(join(directory(), 'demo.json'), 'utf8'))
    },
  }
}

/** The two ports above it, where npm start has its stores, are free, too. */
export async function freePort(): Promise<number> {
  const probe = createServer()
  const port = await listen(probe, 0)
  const areFree = [port + 1, port + 2].map(async (each) => {
    const above = createServer()
    return listen(above, each).then(
      () => close(above).then(() => true),
      () => false,
    )
  })
  const isFree = !(await Promise.all(areFree)).includes(false)
  await close(probe)
  return isFree ? port : freePort()
}
