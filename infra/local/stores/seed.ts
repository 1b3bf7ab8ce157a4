import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DeleteObjectCommand, HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { newApiKeyRecord } from '../../../lib/auth/api-key-administration.ts'
import { keyIdOf, newToken } from '../../../lib/auth/api-token.ts'
import { ONLY_IF_LISTED, PERMISSIONS, type Permission } from '../../../lib/auth/caller.ts'
import { openStores } from '../../../lib/aws/stores.ts'
import type { Config } from '../../../lib/config.ts'
import { createDeadline } from '../../../lib/deadline.ts'
import { type ContainerId, type FilePath, formatFileId, type WorkspaceId } from '../../../lib/ids.ts'
import { createLog } from '../../../lib/logging.ts'
import { createObjectKeys } from '../../../lib/object-keys.ts'
import { createAdmission } from '../../../lib/promotion/admission.ts'
import { promoteContainerFile } from '../../../lib/promotion/promote-container-file.ts'
import { createTelemetry } from '../../../lib/telemetry.ts'
import { unlessMissing } from '../../deploy/describe-table.ts'

type DemoContainer = Awaited<ReturnType<typeof putContainer>>

/** The demonstration, for people and scripts that try the service. */
export interface Demo extends DemoContainer {
  management_key: string
  standard_key: string
  /** A standard key without any permission. */
  powerless_key: string
  full_workspace: DemoContainer & { management_key: string; standard_key: string }
}

type DemoFile = { path: string; contentType: string | undefined; body: Buffer }
type Backends = { dynamoDb: DynamoDBClient; s3: S3Client; config: Config }

const MIB = 1024 * 1024
const TEXT = 'text/plain; charset=utf-8'
const DEMO = { workspaceId: 'ws_demo' as WorkspaceId, containerId: 'sess_demo-r4k2' as ContainerId }
const FULL = { workspaceId: 'ws_full' as WorkspaceId, containerId: 'sess_full' as ContainerId }
const FULL_QUOTA_BYTES = MIB
const FULL_DOCUMENT_BYTES = 1_000_000
const FULL_FILES: DemoFile[] = [
  { path: 'fits.txt', contentType: 'text/plain', body: Buffer.from('Small enough for what is left.\n') },
  { path: 'does-not-fit.bin', contentType: undefined, body: Buffer.alloc(100_000, 1) },
]
const SEED_TIMEOUT_MS = 30_000

/** Creates two workspaces with keys and container files, where missing. @param previous whose keys stay valid */
export async function seed(backends: Backends, previous: Partial<Demo> = {}): Promise<Demo> {
  const { config } = backends
  const signal = AbortSignal.timeout(SEED_TIMEOUT_MS)
  const stores = openStores({ ...backends, now: Date.now })
  const { keyAdministration, workspaces } = stores
  /** @param listed the permissions of a standard key; omitted: a management key, with all that there is */
  const addKey = async (workspaceId: WorkspaceId, former?: string, listed?: readonly Permission[]) => {
    const token = former ?? newToken(keyIdOf(workspaceId))
    const kind = listed === undefined ? ('management' as const) : ('standard' as const)
    const permissions = listed ?? ONLY_IF_LISTED
    const grant = { workspaceId, kind, permissions, userId: 'user_demo', expiresAtMs: undefined }
    await keyAdministration.add(newApiKeyRecord(token, grant, Date.now()), signal)
    return token
  }
  // The first promotion would also create the workspace, but `keys create` asks for confirmation while it is missing.
  await workspaces.create(DEMO.workspaceId, { quotaBytes: config.defaultQuotaBytes }, signal)
  const { isNew } = await workspaces.create(FULL.workspaceId, { quotaBytes: FULL_QUOTA_BYTES }, signal)
  if (isNew) await addDocument(backends, stores)
  const before = previous.full_workspace
  return {
    management_key: await addKey(DEMO.workspaceId, previous.management_key),
    standard_key: await addKey(DEMO.workspaceId, previous.standard_key, PERMISSIONS),
    powerless_key: await addKey(DEMO.workspaceId, previous.powerless_key, []),
    ...(await putContainer(DEMO, demoFiles(config), backends)),
    full_workspace: {
      management_key: await addKey(FULL.workspaceId, before?.management_key),
      standard_key: await addKey(FULL.workspaceId, before?.standard_key, PERMISSIONS),
      ...(await putContainer(FULL, FULL_FILES, backends)),
    },
  }
}

async function putContainer(ids: typeof DEMO, files: DemoFile[], { s3, config }: Backends) {
  const keys = createObjectKeys(config.keyTemplates)
  for (const { path, contentType, body } of files) {
    const object = { Bucket: config.sandboxBucket, Key: keys.sandboxFile({ ...ids, path: path as FilePath }) }
    const existing = await s3.send(new HeadObjectCommand(object)).catch(unlessMissing)
    if (existing?.ContentLength === body.length) continue
    await s3.send(new PutObjectCommand({ ...object, Body: body, ContentType: contentType }))
  }
  return {
    workspace_id: ids.workspaceId,
    container_id: ids.containerId,
    files: files.map(({ path, body }) => ({ path, file_id: formatFileId(path), size_bytes: body.length })),
  }
}

/** A document that takes up nearly all of the full workspace, promoted like any other. */
async function addDocument({ config, s3 }: Backends, stores: ReturnType<typeof openStores>): Promise<void> {
  const { workspaceId, containerId } = FULL
  const path = 'archive/first.bin' as FilePath
  const object = { Bucket: config.sandboxBucket, Key: stores.objectKeys.sandboxFile({ ...FULL, path }) }
  await s3.send(new PutObjectCommand({ ...object, Body: Buffer.alloc(FULL_DOCUMENT_BYTES, 1) }))
  const log = createLog({ serviceName: 'seed', functionName: 'seed' })
  const endAtMs = performance.now() + SEED_TIMEOUT_MS
  const request = {
    caller: { keyId: 'seed', workspaceId, kind: 'management', permissions: [], userId: undefined },
    containerId,
    fileId: formatFileId(path),
    idempotencyKey: undefined,
    rateLimitPassed: Promise.resolve(),
    countMore: async (most: number) => most,
    pauseMs: () => 0,
    deadline: createDeadline(() => endAtMs - performance.now()),
    log,
    telemetry: createTelemetry(),
  } as const
  await promoteContainerFile(request, { ...config, ...stores, log, admission: createAdmission(stores) })
  await s3.send(new DeleteObjectCommand(object))
}

/** Files such as tools leave in a sandbox. @param multipartThresholdBytes one of them is larger */
function demoFiles({ multipartThresholdBytes }: Config): DemoFile[] {
  return [
    { path: 'output/report.csv', contentType: 'text/csv', body: csv(500) },
    { path: 'output/summary.txt', contentType: TEXT, body: Buffer.from('All 500 rows were read.\n') },
    // It has no type, as many tools store it; its content tells.
    { path: 'output/pixel.png', contentType: undefined, body: PNG },
    { path: 'empty.txt', contentType: 'text/plain', body: Buffer.alloc(0) },
    { path: 'отчёты/итог 2026 – 結果 📄.txt', contentType: TEXT, body: Buffer.from('Привет, 世界\n') },
    { path: 'data/large.bin', contentType: undefined, body: pattern(multipartThresholdBytes + 3 * MIB + 17) },
  ]
}

function csv(rowCount: number): Buffer {
  const rows = Array.from({ length: rowCount }, (_, i) => `${i + 1},sensor-${i % 7},${((i * 37) % 1000) / 10}`)
  return Buffer.from(`row,sensor,value\n${rows.join('\n')}\n`)
}

/** Bytes in which no two parts are alike, so that a misplaced part is noticed. */
function pattern(sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(sizeBytes)
  for (let offset = 0; offset + 4 <= sizeBytes; offset += 4) bytes.writeUInt32LE((offset * 2_654_435_761) >>> 0, offset)
  return bytes
}

/** One transparent pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
