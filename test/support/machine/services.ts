import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { S3 } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, inject } from 'vitest'
import { startLocalService } from '../../../infra/local/service.ts'
import { type DemoFileContent, writeDemoFile } from '../../../infra/local/stores/demo-file.ts'
import { startLocalStores } from '../../../infra/local/stores/stores.ts'
import { ONLY_IF_LISTED, type Permission } from '../../../lib/auth/caller.ts'
import { newAttemptId, type WorkspaceId } from '../../../lib/ids.ts'
import { addKey } from '../stores/keys-and-limits.ts'
import { CREDENTIALS } from '../stores/stand-ins.ts'
import { runAdmin } from './admin.ts'

export const ROOT = join(import.meta.dirname, '../../..')

export type TestService = ReturnType<typeof visit>

interface ServiceOptions {
  /** Changes to the functions' environment. */
  changes?: Record<string, string>
  /** The environment of this machine, which says where other stores are. */
  environment?: Record<string, string>
  /** How often the functions with a schedule are invoked. */
  everyMs?: number
  /** Another name of this machine. */
  host?: string
}

/** Serves what npm start serves, on a free port and with data of its own. The functions can be killed and restarted. */
export async function startService(options: ServiceOptions = {}) {
  const { changes, environment = {}, everyMs, host } = options
  const directory = await mkdtemp(join(tmpdir(), 'promotion-service-'))
  const given = inject('definition')
  const faster = <Schedule extends { everyMs: number }>(schedule: Schedule) => ({
    ...schedule,
    everyMs: everyMs ?? schedule.everyMs,
  })
  const definition = {
    ...given,
    environment: { ...given.environment, ...changes },
    functions: given.functions.map((each) => ({ ...each, schedules: each.schedules.map(faster) })),
  }
  const service = await startLocalService({ definition, port: 0, host, directory, environment, log() {} })
  return { ...visit(service.demo, directory, service.stop), functions: service.functions }
}

export type OwnService = Awaited<ReturnType<typeof startService>>

/** A service for all tests of a file. @param options known when the tests begin */
export function useService(options: () => ServiceOptions = () => ({})): () => OwnService {
  return useStarted(() => startService(options()))
}

/** The stores for all tests of a file. */
export function useStores(environment: Record<string, string> = {}): () => TestService {
  return useStarted(() => startStores(environment))
}

function useStarted<Started extends TestService>(start: () => Promise<Started>): () => Started {
  let started: Started
  beforeAll(async () => {
    started = await start()
  })
  afterAll(() => started?.stop())
  return () => started
}

/** The stores that npm start keeps and their demonstration, with data of its own. Nothing answers at its base URL. */
export async function startStores(environment: Record<string, string> = {}): Promise<TestService> {
  const directory = await mkdtemp(join(tmpdir(), 'promotion-stores-'))
  const stores = await startLocalStores({ definition: inject('definition'), directory, environment })
  const demo = stores.demoFile('http://127.0.0.1:1/v1')
  await writeDemoFile(directory, demo)
  return visit(demo, directory, stores.stop)
}

function visit(demo: DemoFileContent, directory: string, stop: () => Promise<unknown>) {
  const common = { region: 'us-east-1', credentials: CREDENTIALS }
  const dynamoDb = new DynamoDB({ ...common, endpoint: demo.dynamodb_endpoint })
  const s3 = new S3({ ...common, endpoint: demo.s3_endpoint, forcePathStyle: true })
  const keysTable = { client: dynamoDb, tableName: demo.keys_table }

  return {
    demo,
    /** For --directory of the command line. */
    directory,
    admin: (...args: string[]) => runAdmin(['--local', '--directory', directory, ...args]),
    dynamoDb,
    s3,
    newWorkspaceId: () => `ws_${newAttemptId()}` as WorkspaceId,
    /** @param permissions omitted: a management key, with all that there is */
    newKey: (workspaceId: WorkspaceId, permissions?: Permission[]): Promise<string> =>
      addKey(keysTable, { workspaceId, kind: permissions ? 'standard' : 'management' }, permissions ?? ONLY_IF_LISTED),
    /** Asks the API, with the management key of the demonstration unless another is given. */
    async ask(method: string, path: string, { body, key = demo.management_key }: { body?: object; key?: string } = {}) {
      const headers = { authorization: `Bearer ${key}` }
      const answer = await fetch(demo.base_url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      // biome-ignore lint/suspicious/noExplicitAny: an answer of another form for each path
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any }
    },
    async putFile(workspaceId: WorkspaceId, containerId: string, path: string, body: Buffer, contentType?: string) {
      const Key = `sandboxes/${workspaceId}/${containerId}/${path}`
      await s3.putObject({ Bucket: demo.sandbox_bucket, Key, Body: body, ContentType: contentType })
    },
    async stop(): Promise<void> {
      dynamoDb.destroy()
      s3.destroy()
      await stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
