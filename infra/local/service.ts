import { join } from 'node:path'
import { createStream, startEvents } from './events.ts'
import { type FunctionHost, startFunctionHost } from './gateway/function-host.ts'
import { type ServedRequest, startGateway } from './gateway/gateway.ts'
import { LOOPBACK } from './loopback.ts'
import { createPage, type PageHandler } from './page/page.ts'
import { writeDemoFile } from './stores/demo-file.ts'
import { type LocalStoresOptions, startLocalStores } from './stores/stores.ts'

const ROOT = join(import.meta.dirname, '../..')

export type LocalService = Awaited<ReturnType<typeof startLocalService>>

interface LocalServiceOptions extends Omit<LocalStoresOptions, 'pages' | 's3Port' | 'dynamoDbPort'> {
  /** 0: any free one. */
  port: number
  inspectPort?: number | undefined
  log(text: string): void
  onRequest?: ((request: ServedRequest) => void) | undefined
  onEvent?: ((line: string) => void) | undefined
}

/** Starts the built service behind a gateway, the stores that it works on, and its schedules. */
export async function startLocalService(options: LocalServiceOptions) {
  const { definition, directory, port, log, onRequest, inspectPort } = options
  const { DOCUMENTS_TABLE } = definition.environment
  await using starting = new AsyncDisposableStack()
  const keep = <Part extends { stop(): Promise<void> }>(part: Part) => starting.adopt(part, (each) => each.stop())
  const pages: string[] = []
  let stream: ReturnType<typeof createStream> | undefined
  // The demonstration, which is made first, is no event.
  const onWrite: LocalStoresOptions['onWrite'] = (table, before, after) => {
    if (table === DOCUMENTS_TABLE) stream?.add(before, after)
  }
  const stores = keep(await startLocalStores({ ...options, ...portsBeside(port), pages, onWrite }))
  const events = keep(await startEvents(options))

  let page: Promise<PageHandler> | undefined
  const { corsAllowedOrigins } = stores.config
  const started = Promise.withResolvers<FunctionHost>()
  const gateway = keep(
    await startGateway({
      ...{ ...definition, port, host: options.host, corsAllowedOrigins, onRequest },
      invoke: async (...request) => (await started.promise).invoke(...request),
      s3InContainers: stores.s3InContainers,
      page: () => (page ??= createPage({ demo, s3: stores.s3 })),
    }),
  )
  const origin = `http://${LOOPBACK}:${gateway.port}`
  const own = { ...stores.environment, ...events.environment, LINKS_URL: `${origin}/l` }
  const environment = { ...definition.environment, ...own }
  const host = keep(
    await startFunctionHost({ root: ROOT, functions: definition.functions, environment, log, inspectPort }),
  )
  started.resolve(host)
  const invoke = (name: string, event: unknown) => host.invoke(`${definition.environment.SERVICE_NAME}-${name}`, event)
  stream = keep(createStream((event) => invoke('publish-events', event)))
  const demo = stores.demoFile(`${origin}/v1`)
  pages.push(origin, ...corsAllowedOrigins)
  await writeDemoFile(directory, demo)
  const timers = definition.functions.flatMap(({ name, schedules }) =>
    schedules.map(({ everyMs, input }) =>
      setInterval(() => host.invoke(name, input).catch((error) => log(`${name}: ${error.message}\n`)), everyMs),
    ),
  )
  starting.defer(() => timers.forEach(clearInterval))
  const running = starting.move()
  return { demo, functions: host, stop: () => running.disposeAsync() }
}

/** The ports of the embedded stores, always the same for a port of the API. @param port of the API; 0: any */
function portsBeside(port: number): { s3Port: number; dynamoDbPort: number } {
  if (port === 0) return { s3Port: 0, dynamoDbPort: 0 }
  const step = port > 65_533 ? -1 : 1
  return { s3Port: port + step, dynamoDbPort: port + 2 * step }
}
