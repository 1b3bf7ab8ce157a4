import { createServer } from 'node:http'
import { join, relative } from 'node:path'
import { buildForDebugging } from '../bundle/build.ts'
import { buildIfChanged } from '../bundle/build-if-changed.ts'
import type { DemoFileContent } from './demo-file.ts'
import { describeFailure, requireRoom } from './describe-failure.ts'
import { type DirectoryLock, lockDirectory, type Running } from './directory-lock.ts'
import { close, listen } from './listen.ts'
import { type LocalService, startLocalService } from './service.ts'
import { createServiceLog } from './service-log.ts'
import { readStartOptions, type StartOptions } from './start-options.ts'
import { watchFolders } from './watch-folders.ts'

const ROOT = join(import.meta.dirname, '../..')

let directory: string | undefined
// The embedded DynamoDB throws disk errors where nobody can catch them.
process.on('uncaughtException', (error) => fail(describeFailure(error, directory)))
try {
  const options = readStartOptions(process.argv.slice(2), { root: ROOT, env: process.env })
  directory = options?.directory
  if (options !== undefined) await main(options)
} catch (error) {
  fail(describeFailure(error, directory))
}

async function main({ port, fresh, verbose, directory, watch, inspect }: StartOptions): Promise<void> {
  const lock = await lockDirectory(directory)
  if (!('release' in lock)) return fail(alreadyRunning(lock, directory))
  await requireFreePort(port)
  if (fresh) await lock.empty()
  requireRoom(directory)

  console.log('Building and starting …')
  const where = { root: ROOT, outDir: join(ROOT, 'dist') }
  const isForDebugging = watch || inspect !== undefined
  await (isForDebugging ? buildForDebugging(where) : buildIfChanged(where))
  const trouble = createTroubleTeller(console.log)
  const onTrouble = (error: Error) => trouble.tell(error)
  const log = createServiceLog({ directory, isVerbose: verbose, print: console.log, onTrouble })
  const service = await startLocalService({
    root: ROOT,
    port,
    directory,
    environment: process.env,
    inspectPort: inspect,
    log: log.fromFunctions,
    onRequest: log.request,
    onTrouble,
  })
  trouble.isStarted = true
  await lock.announce({ pid: process.pid, base_url: service.demo.base_url })
  if (inspect !== undefined) console.log(`A debugger may attach to the functions at 127.0.0.1:${inspect}.`)
  if (watch) {
    console.log('Whenever lib/ or functions/ change, the functions are built and started again.')
    watchFolders([join(ROOT, 'lib'), join(ROOT, 'functions')], () => rebuild(service, where, log.say))
  }
  console.log(welcome(service.demo, directory))
  stopOnSignal(service.stop, lock)
  await service.failed
  await lock.release()
  fail(`The functions' process has ended by itself; ${log.file} may say why.`)
}

async function rebuild(
  service: LocalService,
  where: { root: string; outDir: string },
  say: (line: string) => void,
): Promise<void> {
  const startedAt = performance.now()
  try {
    await buildForDebugging(where)
    await service.restartFunctions()
    say(`restarted after a change, in ${Math.round(performance.now() - startedAt)} ms`)
  } catch (error) {
    say(`not restarted: ${(error as Error).message.split('\n')[0]}`)
  }
}

/** A full disk fails many calls, and is reported once. Before the service has started, the failed start reports it. */
function createTroubleTeller(print: (line: string) => void) {
  const said = new Set<string>()
  return {
    isStarted: false,
    tell(error: NodeJS.ErrnoException) {
      // Without the file name, which differs for each call.
      const line = describeFailure(Object.assign(new Error(error.message), { code: error.code }))
      if (this.isStarted && !said.has(line)) print(line)
      said.add(line)
    },
  }
}

function stopOnSignal(stop: () => Promise<void>, lock: DirectoryLock): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      await stop()
      await lock.release()
      process.exit(0)
    })
  }
}

/** Checked first, so that the answer comes at once. */
async function requireFreePort(port: number): Promise<void> {
  const probe = createServer()
  try {
    await listen(probe, port)
    await close(probe)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be used (${code})`
    const other = port === 65_535 ? port - 1 : port + 1
    throw new Error(`Port ${port} ${why}. Choose another one: npm start -- --port ${other}`)
  }
}

function alreadyRunning({ pid, base_url }: Running, directory: string): string {
  const place = relative(process.cwd(), directory) || directory
  if (base_url === undefined) return `Another npm start is starting with the data in ${place}.`
  return `The service is running already, at ${base_url} (process ${pid}): it has the data in ${place}. Ctrl-C stops it there.`
}

function welcome(demo: DemoFileContent, directory: string): string {
  const file = demo.files[0]
  const short = relative(process.cwd(), directory) || directory
  return `
The service answers at ${demo.base_url}; Ctrl-C stops it.
A page to look at and to try it: ${new URL('/', demo.base_url).href}
Keys, containers and files to try are in ${join(short, 'demo.json')}, logs in ${join(short, 'service.log')}.

Promote a file of the demonstration (${file?.path}):

  curl -i -X POST -H 'Authorization: Bearer ${demo.standard_key}' \\
    ${demo.base_url}/containers/${demo.container_id}/files/${file?.file_id}/promote`
}

function fail(line: string): never {
  console.error(line)
  process.exit(1)
}
