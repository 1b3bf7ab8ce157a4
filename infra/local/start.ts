import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { buildIfChanged } from '../build/build-if-changed.ts'
import { close, listen } from './listen.ts'
import { type DemoFileContent, startLocalService } from './service.ts'

const ROOT = join(import.meta.dirname, '../..')
const DEFAULT_PORT = 3000

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      fresh: { type: 'boolean', default: false },
      directory: { type: 'string', default: join(ROOT, '.local') },
    },
  })
  const port = readPort(process.env.PORT)
  await requireFreePort(port)
  if (values.fresh) await rm(values.directory, { recursive: true, force: true })

  await buildIfChanged({ root: ROOT, outDir: join(ROOT, 'dist') })
  const service = await startLocalService({
    root: ROOT,
    port,
    directory: values.directory,
    environment: process.env,
    log: (text) => process.stdout.write(text),
  })
  console.log(welcome(service.demo, join(values.directory, 'demo.json')))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      await service.stop()
      process.exit(0)
    })
  }
}

function readPort(text: string | undefined): number {
  const port = text === undefined ? DEFAULT_PORT : /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(port >= 1 && port <= 65_535)) throw new Error(`PORT must be a number from 1 to 65535, not "${text}".`)
  return port
}

/** Asked before anything else is started, so that the answer comes at once. */
async function requireFreePort(port: number): Promise<void> {
  const probe = createServer()
  try {
    await listen(probe, port)
    await close(probe)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be used (${code})`
    throw new Error(`Port ${port} ${why}. Choose another one: PORT=${port + 1} npm start`)
  }
}

function welcome(demo: DemoFileContent, demoFile: string): string {
  const file = demo.files[0]
  return `
The service answers at ${demo.base_url}; Ctrl-C stops it. Keys and files of the demonstration: ${relative(process.cwd(), demoFile)}

Promote a file of the demonstration (${file?.path}):

  curl -i -X POST -H 'Authorization: Bearer ${demo.standard_key}' \\
    ${demo.base_url}/containers/${demo.container_id}/files/${file?.file_id}/promote
`
}
