import { createServer } from 'node:http'
import { join, relative } from 'node:path'
import { buildForDebugging } from '../bundle/build.ts'
import { buildIfChanged } from '../bundle/build-if-changed.ts'
import { readServiceDefinition } from '../deploy/service-definition.ts'
import { close, listen, portsBeside } from './loopback.ts'
import type { LocalService } from './service.ts'
import { createServiceLog } from './service-log.ts'
import { readStartOptions, type StartOptions } from './start-options.ts'
import type { DemoFileContent } from './stores/demo-file.ts'
import { type DirectoryLock, lockDirectory, type Running } from './stores/directory-lock.ts'
import { watchFolders } from './watch-folders.ts'

const ROOT = join(import.meta.dirname, '../..')
const WHERE = { root: ROOT, outDir: join(ROOT, 'dist') }

// The embedded DynamoDB throws disk errors where nobody can catch them.
process.on('uncaughtException', (error) => fail(messageOf(error)))
try {
  const options = readStartOptions(process.argv.slice(2), { root: ROOT, env: process.env })
  if (options !== undefined) await main(options)
} catch (error) {
  fail(messageOf(error))
}

async function main({ port, host, fresh, verbose, directory, watch, inspect }: StartOptions): Promise<void> {
  const lock = await lockDirectory(directory)
  if (!('release' in lock)) return fail(alreadyRunning(lock, directory))
  await requireFreePorts(port, host)
  if (fresh) await lock.empty()

  console.log('Building and starting …')
  const isForDebugging = watch || inspect !== undefined
  const definition = readServiceDefinition()
  const [{ startLocalService }] = await Promise.all([
    // This module is loaded while the build is at work.
    import('./service.ts'),
    isForDebugging ? buildForDebugging(WHERE) : buildIfChanged(WHERE),
  ])
  const log = createServiceLog({ directory, isVerbose: verbose, print: console.log })
  const service = await startLocalService({
    root: ROOT,
    definition,
    port,
    host,
    directory,
    environment: process.env,
    inspectPort: inspect,
    log: log.fromFunctions,
    onRequest: log.request,
  })
  await lock.announce({ pid: process.pid, base_url: service.demo.base_url })
  if (inspect !== undefined) console.log(`A debugger may attach to the functions at 127.0.0.1:${inspect}.`)
  if (watch) {
    console.log('Whenever lib/ or functions/ change, the functions are built and started again.')
    watchFolders([join(ROOT, 'lib'), join(ROOT, 'functions')], () => rebuild(service, log.say))
  }
  console.log(welcome(service.demo, directory))
  stopOnSignal(service.stop, lock)
  await service.functions.failed
  await lock.release()
  fail(`The functions' process has ended by itself; ${log.file} may say why.`)
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
  return error.cause === undefined ? error.message : messageOf(error.cause)
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
async function requireFreePorts(port: number, host: string | undefined): Promise<void> {
  const { AWS_ENDPOINT_URL_S3: ownS3, AWS_ENDPOINT_URL_DYNAMODB: ownDynamoDb } = process.env
  const { s3Port, dynamoDbPort } = portsBeside(port)
  for (const each of [port, ...(ownS3 ? [] : [s3Port]), ...(ownDynamoDb ? [] : [dynamoDbPort])]) {
    const probe = createServer()
    await listen(probe, each, each === dynamoDbPort ? {} : { host }).catch(({ message }) => {
      throw new Error(`${message}. Choose another port: npm start -- --port ${port > 65_530 ? port - 3 : port + 3}`)
    })
    await close(probe)
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
A page to look at and to try it: ${new URL('/', demo.base_url).href}${access(demo)}
Keys, containers and files to try are in ${join(short, 'demo.json')}, logs in ${join(short, 'service.log')}.

Promote a file of the demonstration (${file?.path}):

  curl -i -X POST -H 'Authorization: Bearer ${demo.standard_key}' \\
    ${demo.base_url}/containers/${demo.container_id}/files/${file?.file_id}/promote`
}

/** Who else reaches it, in a line. */
function access({ base_url_in_containers: url, s3_endpoint_in_containers: s3 }: DemoFileContent): string {
  if (url === undefined) return ''
  return `\nContainers reach it at ${url}, S3 at ${s3}: so does every machine in this network, and S3 lets each of them read and change all files.`
}

function fail(line: string): never {
  console.error(line)
  process.exit(1)
}
