import { watch as watchFolder } from 'node:fs'
import { join, relative } from 'node:path'
import { buildForDebugging, buildFunctions } from '../bundle/build.ts'
import { readServiceDefinition } from '../deploy/service-definition.ts'
import type { LocalService } from './service.ts'
import { createServiceLog } from './service-log.ts'
import { readStartOptions, type StartOptions } from './start-options.ts'
import type { DemoFileContent } from './stores/demo-file.ts'
import { emptyDirectory, lockDirectory } from './stores/directory-lock.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Editors save in several steps, and often several files. */
const SETTLE_MS = 100
const PARENT_EVERY_MS = 500
/** Before it can have ended. */
const PARENT = process.ppid
const WHERE = { root: ROOT, outDir: join(ROOT, 'dist') }

// Also for the embedded DynamoDB, which throws disk errors where nobody can catch them.
process.on('uncaughtException', (error) => fail(messageOf(error)))
await main(readStartOptions(process.argv.slice(2), ROOT))

async function main({ port, host, fresh, verbose, directory, watch, inspect }: StartOptions): Promise<void> {
  const lock = await lockDirectory(directory)
  if (fresh) await emptyDirectory(directory)

  console.log('Building and starting …')
  const isForDebugging = watch || inspect !== undefined
  // The tests build once for a run.
  const isBuilt = process.env.PROMOTION_BUILD === 'skip'
  const definition = readServiceDefinition()
  const [{ startLocalService }] = await Promise.all([
    // This module is loaded while the build is at work.
    import('./service.ts'),
    isForDebugging ? buildForDebugging(WHERE) : isBuilt || buildFunctions(WHERE),
  ])
  const log = createServiceLog({ directory, isVerbose: verbose, print: console.log })
  const service = await startLocalService({
    ...{ definition, port, host, directory, environment: process.env, inspectPort: inspect },
    ...{ log: log.fromFunctions, onRequest: log.request, onEvent: log.say },
  })
  if (inspect !== undefined) console.log(`A debugger may attach to the functions at 127.0.0.1:${inspect}.`)
  if (watch) {
    console.log('Whenever lib/ or functions/ change, the functions are built and started again.')
    onceSaved(['lib', 'functions'], () => rebuild(service, log.say))
  }
  console.log(welcome(service.demo, directory))
  stopOnSignal(async () => {
    await service.stop()
    await lock.close()
  })
  await service.functions.failed
  fail(`The functions' process has ended by itself; ${log.file} may say why.`)
}

/** Calls back after files below the folders were saved: once for files saved together, and never twice at a time. */
function onceSaved(folders: readonly string[], onChange: () => Promise<void>): void {
  let settling: NodeJS.Timeout | undefined
  let work = Promise.resolve()
  const onSave = () => {
    clearTimeout(settling)
    settling = setTimeout(() => {
      work = work.then(onChange)
    }, SETTLE_MS)
  }
  for (const folder of folders) watchFolder(join(ROOT, folder), { recursive: true }, onSave)
}

async function rebuild({ functions }: LocalService, say: (line: string) => void): Promise<void> {
  const startedAt = performance.now()
  try {
    await buildForDebugging(WHERE)
    await functions.restart()
    say(`restarted after a change, in ${Math.round(performance.now() - startedAt)} ms`)
  } catch (error) {
    say(`not restarted: ${(error as Error).message.split('\n')[0]}`)
  }
}

/** The first cause: clients wrap what a disk or a server says. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return messageOf(error.cause)
  const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
  return isTaken ? `${error.message}. npm start -- --port <number> uses other ports.` : error.message
}

function stopOnSignal(stop: () => Promise<void>): void {
  const end = async () => {
    await stop()
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
  // A SIGTERM to npm ends npm and the shell that it has started, and reaches nobody else.
  if (process.env.npm_lifecycle_event === undefined) return
  const watch = setInterval(() => {
    if (process.ppid === PARENT) return
    clearInterval(watch)
    void end()
  }, PARENT_EVERY_MS)
}

function welcome(demo: DemoFileContent, directory: string): string {
  const file = demo.files[0]
  const { base_url_in_containers: url, s3_endpoint_in_containers: s3 } = demo
  const others = `\nContainers reach it at ${url}, S3 at ${s3}: so does every machine in this network, and S3 lets each of them read and change all files.`
  const short = relative(process.cwd(), directory) || directory
  return `
The service answers at ${demo.base_url}; Ctrl-C stops it.
A page to look at and to try it: ${new URL('/', demo.base_url).href}${url === undefined ? '' : others}
Keys, containers and files to try are in ${join(short, 'demo.json')}, logs in ${join(short, 'service.log')},
events about documents in ${join(short, 'events.ndjson')}.

Promote a file of the demonstration (${file?.path}):

  curl -i -X POST -H 'Authorization: Bearer ${demo.standard_key}' \\
    ${demo.base_url}/containers/${demo.container_id}/files/${file?.file_id}/promote`
}

function fail(line: string): never {
  console.error(line)
  process.exit(1)
}
