import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { marshall } from '@aws-sdk/util-dynamodb'
import { type ApiKeyGrant, newApiKeyRecord } from '../../lib/auth/api-key-administration.ts'
import { newToken } from '../../lib/auth/api-token.ts'
import { PERMISSIONS } from '../../lib/auth/caller.ts'
import { createApiKeyAdministration } from '../../lib/aws/api-key-administration.ts'
import { createDocumentRecords } from '../../lib/aws/document-records.ts'
import { createQuotaLedger } from '../../lib/aws/quota-ledger.ts'
import { createWorkspaceAdministration } from '../../lib/aws/workspace-administration.ts'
import type { Config } from '../../lib/config.ts'
import {
  type ContainerId,
  documentIdOfAttempt,
  type FilePath,
  formatFileId,
  newAttemptId,
  type WorkspaceId,
} from '../../lib/ids.ts'
import { createObjectKeys } from '../../lib/object-keys.ts'
import type { WorkspaceDocument } from '../../lib/promotion/document-records.ts'
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

type Tokens = Partial<Pick<Demo, 'management_key' | 'standard_key' | 'powerless_key'>> & {
  full_workspace?: Partial<Demo['full_workspace']>
}

interface Backends {
  dynamoDb: DynamoDBClient
  s3: S3Client
  config: Config
}

const DEMO_WORKSPACE = 'ws_demo' as WorkspaceId
const FULL_WORKSPACE = 'ws_full' as WorkspaceId
const DEMO_CONTAINER = 'sess_demo-r4k2' as ContainerId
const FULL_CONTAINER = 'sess_full' as ContainerId
const FULL_QUOTA_BYTES = 1024 * 1024
const FULL_DOCUMENT_BYTES = 1_000_000
const SEED_TIMEOUT_MS = 30_000

/**
 * Creates two workspaces with keys and container files, where they are missing.
 * @param previous the demonstration of an earlier start, whose keys stay valid
 */
export async function seed(backends: Backends, previous: Tokens = {}): Promise<Demo> {
  const demo = {
    management_key: previous.management_key ?? newToken(),
    standard_key: previous.standard_key ?? newToken(),
    powerless_key: previous.powerless_key ?? newToken(),
  }
  const full = {
    management_key: previous.full_workspace?.management_key ?? newToken(),
    standard_key: previous.full_workspace?.standard_key ?? newToken(),
  }
  await putKeys(
    [
      [demo.management_key, { workspaceId: DEMO_WORKSPACE, kind: 'management', permissions: [] }],
      [demo.standard_key, { workspaceId: DEMO_WORKSPACE, kind: 'standard', permissions: PERMISSIONS }],
      [demo.powerless_key, { workspaceId: DEMO_WORKSPACE, kind: 'standard', permissions: [] }],
      [full.management_key, { workspaceId: FULL_WORKSPACE, kind: 'management', permissions: [] }],
      [full.standard_key, { workspaceId: FULL_WORKSPACE, kind: 'standard', permissions: PERMISSIONS }],
    ],
    backends,
  )
  // Its first promotion would also create it, but `keys create` asks for confirmation while it is missing.
  await workspacesOf(backends).create(
    DEMO_WORKSPACE,
    backends.config.defaultQuotaBytes,
    AbortSignal.timeout(SEED_TIMEOUT_MS),
  )
  await fillWorkspace(FULL_WORKSPACE, backends)
  const files = demoFiles(backends.config)
  const smallAndLarge = [
    { path: 'fits.txt', contentType: 'text/plain', body: Buffer.from('Small enough for what is left.\n') },
    { path: 'does-not-fit.bin', contentType: undefined, body: Buffer.alloc(100_000, 1) },
  ]
  return {
    ...demo,
    ...(await putContainer(DEMO_WORKSPACE, DEMO_CONTAINER, files, backends)),
    full_workspace: { ...full, ...(await putContainer(FULL_WORKSPACE, FULL_CONTAINER, smallAndLarge, backends)) },
  }
}

async function putKeys(
  keys: [token: string, grant: Pick<ApiKeyGrant, 'workspaceId' | 'kind' | 'permissions'>][],
  { dynamoDb: client, config }: Backends,
): Promise<void> {
  const administration = createApiKeyAdministration({ client, tableName: config.keysTable })
  for (const [token, grant] of keys) {
    const owned = { ...grant, userId: 'user_demo', expiresAtMs: undefined }
    await administration.add(newApiKeyRecord(token, owned, Date.now()), AbortSignal.timeout(SEED_TIMEOUT_MS))
  }
}

async function putContainer(
  workspaceId: WorkspaceId,
  containerId: ContainerId,
  files: DemoFile[],
  { s3, config }: Backends,
): Promise<DemoContainer> {
  const keys = createObjectKeys(config.keyTemplates)
  for (const { path, contentType, body } of files) {
    const object = {
      Bucket: config.sandboxBucket,
      Key: keys.sandboxFile({ workspaceId, containerId, path: path as FilePath }),
    }
    const existing = await s3
      .send(new HeadObjectCommand(object))
      .catch((error: { $metadata?: { httpStatusCode?: number } }) => {
        if (error.$metadata?.httpStatusCode !== 404) throw error
      })
    if (existing?.ContentLength !== body.length) {
      await s3.send(new PutObjectCommand({ ...object, Body: body, ContentType: contentType }))
    }
  }
  return {
    workspace_id: workspaceId,
    container_id: containerId,
    files: files.map(({ path, body }) => ({ path, file_id: formatFileId(path), size_bytes: body.length })),
  }
}

function workspacesOf({ dynamoDb: client, config }: Backends) {
  return createWorkspaceAdministration({ client, tableName: config.workspacesTable })
}

/** Makes a workspace with a small quota and one document that takes up nearly all of it. */
async function fillWorkspace(workspaceId: WorkspaceId, { dynamoDb, s3, config }: Backends): Promise<void> {
  const Key = marshall({ workspace_id: workspaceId })
  const { Item } = await dynamoDb.send(new GetItemCommand({ TableName: config.workspacesTable, Key }))
  if (Item !== undefined) return
  const attemptId = newAttemptId()
  const ids = { workspaceId, documentId: documentIdOfAttempt(attemptId), attemptId }
  const document: WorkspaceDocument = {
    ...ids,
    objectKey: createObjectKeys(config.keyTemplates).documentObject(ids),
    filename: 'archive/first.bin' as FilePath,
    mimeType: 'application/octet-stream',
    sizeBytes: FULL_DOCUMENT_BYTES,
    createdAt: new Date(),
    containerId: FULL_CONTAINER,
    createdBy: 'seed',
  }
  const ledger = createQuotaLedger({
    client: dynamoDb,
    tableName: config.workspacesTable,
    defaultQuotaBytes: FULL_QUOTA_BYTES,
  })
  const documents = createDocumentRecords({ client: dynamoDb, tableName: config.documentsTable, now: Date.now })
  const reservation = { ...document, leaseExpiresAtMs: Date.now() + config.leaseMs }
  const signal = AbortSignal.timeout(SEED_TIMEOUT_MS)
  await ledger.take(reservation, signal)
  await s3.send(
    new PutObjectCommand({
      Bucket: config.documentsBucket,
      Key: document.objectKey,
      Body: Buffer.alloc(FULL_DOCUMENT_BYTES, 1),
      ContentType: document.mimeType,
    }),
  )
  await documents.record(document, signal)
  await ledger.unmark(reservation, signal)
}
