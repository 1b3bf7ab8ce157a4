import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { inject } from 'vitest'
import { type DemoFileContent, readDemoFile, writeDemoFile } from '../../../infra/local/demo-file.ts'
import { startGateway } from '../../../infra/local/gateway.ts'
import { LOOPBACK } from '../../../infra/local/listen.ts'
import { startLocalService } from '../../../infra/local/service.ts'
import { startLocalStores } from '../../../infra/local/stores.ts'
import { newApiKeyRecord } from '../../../lib/auth/api-key-administration.ts'
import { newToken } from '../../../lib/auth/api-token.ts'
import type { Permission } from '../../../lib/auth/caller.ts'
import { createApiKeyAdministration } from '../../../lib/aws/api-key-administration.ts'
import { newAttemptId, type WorkspaceId } from '../../../lib/ids.ts'
import { parseOnce } from '../dynamodb/parse-once.ts'
import { oncePerRun } from '../once-per-run.ts'
import { startFunctionHost } from './function-host.ts'
import { startServiceProcess } from './shared-process.ts'

export const ROOT = join(import.meta.dirname, '../../..')

export type TestService = ReturnType<typeof visit>

export interface LightService extends TestService {
  /** SIGKILL: whatever they are doing stays half done. */
  killFunctions(): Promise<void>
  startFunctions(): Promise<void>
}

/**
 * What npm start serves, in a process of its own, for all test files of this run that use it. Each test makes workspaces
 * of its own there.
 */
export async function sharedService(): Promise<TestService> {
  const directory = await oncePerRun('service', startServiceProcess)
  const demo = await readDemoFile(directory)
  if (demo === undefined) throw new Error(`there is no demo.json in ${directory}`)
  return visit(demo, directory, async () => {})
}

/** What npm start serves, on a free port and with data of its own. @param log receives what the function host prints */
export async function startService(log: (text: string) => void = () => {}): Promise<TestService> {
  const directory = await mkdtemp(join(tmpdir(), 'promotion-e2e-'))
  const service = await startLocalService({ root: ROOT, port: 0, directory, environment: {}, log })
  return visit(service.demo, directory, async () => {
    await service.stop()
    await rm(directory, { recursive: true, force: true })
  })
}

/**
 * The same but for the framework: its stores and its gateway, here, and the functions of dist/ in a plain process, which
 * can be killed and started again. @param changes of the functions' environment
 */
export async function startLightService(
  changes: Record<string, string> = {},
  environment: Record<string, string> = {},
): Promise<LightService> {
  parseOnce()
  const directory = await mkdtemp(join(tmpdir(), 'promotion-light-'))
  const given = inject('definition')
  const definition = { ...given, environment: { ...given.environment, ...changes } }
  const stores = await startLocalStores({ definition, directory, environment })
  const start = () => startFunctionHost({ ...definition.environment, ...stores.environment })
  let host = await start()
  const gateway = await startGateway({
    port: 0,
    stage: 'local',
    lambdaPort: async () => host.lambdaPort,
    routes: definition.routes,
    gatewayResponses: definition.gatewayResponses,
    corsAllowedOrigins: stores.config.corsAllowedOrigins,
  })
  const demo = stores.demoFile(`http://${LOOPBACK}:${gateway.port}/v1`)
  await writeDemoFile(directory, demo)
  const stop = async () => {
    await gateway.stop()
    await host.kill()
    await stores.stop()
    await rm(directory, { recursive: true, force: true })
  }
  return {
    ...visit(demo, directory, stop),
    killFunctions: () => host.kill(),
    async startFunctions() {
      host = await start()
    },
  }
}

/** What npm start keeps, with data of its own: the stores and their demonstration. Nobody answers at its base URL. */
export async function startStores(environment: Record<string, string> = {}): Promise<TestService> {
  const directory = await mkdtemp(join(tmpdir(), 'promotion-stores-'))
  const stores = await startLocalStores({ definition: inject('definition'), directory, environment })
  const demo = stores.demoFile('http://127.0.0.1:1/v1')
  await writeDemoFile(directory, demo)
  return visit(demo, directory, async () => {
    await stores.stop()
    await rm(directory, { recursive: true, force: true })
  })
}

function visit(demo: DemoFileContent, directory: string, stop: () => Promise<void>) {
  const common = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
  const dynamoDb = new DynamoDBClient({ ...common, endpoint: demo.dynamodb_endpoint })
  const s3 = new S3Client({ ...common, endpoint: demo.s3_endpoint, forcePathStyle: true })
  const apiKeys = createApiKeyAdministration({ client: dynamoDb, tableName: demo.keys_table })

  return {
    demo,
    /** For --directory of the command line. */
    directory,
    dynamoDb,
    s3,
    newWorkspaceId: () => `ws_${newAttemptId()}` as WorkspaceId,
    /** @param permissions omitted: a management key */
    async newKey(workspaceId: WorkspaceId, permissions?: Permission[]): Promise<string> {
      const token = newToken()
      const kind = permissions === undefined ? ('management' as const) : ('standard' as const)
      const grant = { workspaceId, kind, permissions: permissions ?? [], userId: undefined, expiresAtMs: undefined }
      await apiKeys.add(newApiKeyRecord(token, grant, Date.now()), AbortSignal.timeout(60_000))
      return token
    },
    async putFile(workspaceId: WorkspaceId, containerId: string, path: string, body: Buffer, contentType?: string) {
      const Key = `sandboxes/${workspaceId}/${containerId}/${path}`
      await s3.send(new PutObjectCommand({ Bucket: demo.sandbox_bucket, Key, Body: body, ContentType: contentType }))
    },
    async stop(): Promise<void> {
      dynamoDb.destroy()
      s3.destroy()
      await stop()
    },
  }
}
