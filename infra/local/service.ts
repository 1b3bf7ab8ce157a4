import { PutBucketCorsCommand, type S3Client } from '@aws-sdk/client-s3'
import { type DemoFileContent, writeDemoFile } from './demo-file.ts'
import { type ServedRequest, startGateway } from './gateway.ts'
import { LOOPBACK } from './listen.ts'
import { createPage, type PageHandler } from './page.ts'
import { startRestartableHost } from './restartable-host.ts'
import { readServiceDefinition } from './service-definition.ts'
import { type LocalStoresOptions, startLocalStores } from './stores.ts'

const STAGE = 'local'

export interface LocalService {
  demo: DemoFileContent
  /** Resolves when the functions' process ended by itself. */
  failed: Promise<void>
  /** Restarts the functions after a build. New requests wait; requests under way are cut off. */
  restartFunctions(): Promise<void>
  stop(): Promise<void>
}

interface LocalServiceOptions extends Omit<LocalStoresOptions, 'definition' | 'pages'> {
  /** Folder of serverless.yml and of the built dist/. */
  root: string
  /** 0: any free one. */
  port: number
  /** Where a debugger may attach to the functions. */
  inspectPort?: number | undefined
  /** Receives what the function host prints. */
  log(text: string): void
  onRequest?(request: ServedRequest): void
}

/** Starts the built service behind a gateway on loopback, and the stores that it works on. */
export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const { root, directory, environment, onTrouble } = options
  await using starting = new AsyncDisposableStack()
  const keep = <Part extends { stop(): Promise<void> }>(part: Part) => starting.adopt(part, (each) => each.stop())
  const definition = await readServiceDefinition(root, STAGE)
  const pages: string[] = []
  const stores = keep(await startLocalStores({ definition, directory, environment, pages, onTrouble }))
  const host = keep(
    await startRestartableHost({
      root,
      stage: STAGE,
      env: stores.environment,
      log: options.log,
      ...(options.inspectPort !== undefined && { inspectPort: options.inspectPort }),
    }),
  )
  const { gatewayResponses, routes } = definition
  let page: PageHandler | undefined
  const gateway = keep(
    await startGateway({
      port: options.port,
      page: (...request) => page?.(...request) ?? false,
      stage: STAGE,
      lambdaPort: () => host.lambdaPort(),
      routes,
      gatewayResponses,
      corsAllowedOrigins: stores.config.corsAllowedOrigins,
      ...(options.onRequest && { onRequest: options.onRequest }),
    }),
  )
  const baseUrl = `http://${LOOPBACK}:${gateway.port}/v1`
  const origin = new URL(baseUrl).origin
  pages.push(origin, ...stores.config.corsAllowedOrigins)
  // A server of the user's own keeps the rules that it has.
  if (!environment.AWS_ENDPOINT_URL_S3) {
    await letPageDownload(origin, { s3: stores.s3, bucket: stores.config.documentsBucket })
  }
  const content = stores.demoFile(baseUrl)
  page = await createPage({ root, baseUrl, demo: stores.demo, s3Origin: new URL(content.s3_endpoint).origin })
  await writeDemoFile(directory, content)
  const running = starting.move()
  return {
    demo: content,
    failed: host.failed,
    restartFunctions: () => host.restart(),
    stop: () => running.disposeAsync(),
  }
}

/** Downloads redirect to S3, which has another origin than the page. */
async function letPageDownload(origin: string, { s3, bucket }: { s3: S3Client; bucket: string }): Promise<void> {
  const CORSRules = [{ AllowedOrigins: [origin], AllowedMethods: ['GET'] }]
  await s3.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules } }))
}
