import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { close, listen } from '../../../infra/local/loopback.ts'
import { useDirectory } from '../use-directory.ts'
import { printedBy } from './program.ts'

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

/** One of those that the system gives to nobody by itself. The two above it, for the stores of npm start, are free, too. */
export async function freePort(): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 10_000)
  const probes = [port, port + 1, port + 2].map(async (each) => {
    const probe = createServer()
    await listen(probe, each)
    await close(probe)
  })
  const failed = (await Promise.allSettled(probes)).some(({ status }) => status === 'rejected')
  return failed ? freePort() : port
}
