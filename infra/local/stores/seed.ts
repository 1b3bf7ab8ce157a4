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
import { type DemoFile, demoFiles } from './demo-files.ts'

interface DemoContainer {
  workspace_id: string
  container_id: string
  files: { path: string; file_id: string; size_bytes: number }[]
}

/** The demonstration, for people and scripts that try the service. */
export interface Demo extends DemoContainer {
  management_key: string
  standard_key: string
  /** A standard key without any permission. */
  powerless_key: string
  full_workspace: DemoContainer & { management_key: string; standard_key: string }
}

type Backends = { dynamoDb: DynamoDBClient; s3: S3Client; config: Config }

const DEMO = { workspaceId: 'ws_demo' as WorkspaceId, containerId: 'sess_demo-r4k2' as ContainerId }
const FULL = { workspaceId: 'ws_full' as WorkspaceId, containerId: 'sess_full' as ContainerId }
const FULL_QUOTA_BYTES = 1024 * 1024
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
  const { keyAdministration, workspaces } = openStores({ ...backends, now: Date.now })
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
  if (isNew) await addDocument(backends)
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

async function putContainer(ids: typeof DEMO, files: DemoFile[], { s3, config }: Backends): Promise<DemoContainer> {
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
async function addDocument(backends: Backends): Promise<void> {
  const { config, s3 } = backends
  const { workspaceId, containerId } = FULL
  const path = 'archive/first.bin' as FilePath
  const stores = openStores({ ...backends, now: Date.now })
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
