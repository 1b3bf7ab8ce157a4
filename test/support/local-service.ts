import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { startLocalService } from '../../infra/local/service.ts'
import { newApiKeyRecord } from '../../lib/auth/api-key-administration.ts'
import { newToken } from '../../lib/auth/api-token.ts'
import type { Permission } from '../../lib/auth/caller.ts'
import { createApiKeyAdministration } from '../../lib/aws/api-key-administration.ts'
import { newAttemptId, type WorkspaceId } from '../../lib/ids.ts'

const ROOT = join(import.meta.dirname, '../..')

/** What npm start serves, on a free port and with data of its own. */
export async function startRunningService() {
  const directory = await mkdtemp(join(tmpdir(), 'promotion-e2e-'))
  const service = await startLocalService({ root: ROOT, port: 0, directory, environment: {}, log: () => {} })
  const { demo } = service
  const common = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
  const dynamoDb = new DynamoDBClient({ ...common, endpoint: demo.dynamodb_endpoint })
  const s3 = new S3Client({ ...common, endpoint: demo.s3_endpoint })
  const apiKeys = createApiKeyAdministration({ client: dynamoDb, tableName: demo.keys_table })

  return {
    demo,
    directory,
    dynamoDb,
    s3,
    newWorkspaceId: () => `ws_${newAttemptId()}` as WorkspaceId,
    /** @param permissions left out: a management key */
    async newKey(workspaceId: WorkspaceId, permissions?: Permission[]): Promise<string> {
      const token = newToken()
      const kind = permissions === undefined ? ('management' as const) : ('standard' as const)
      const grant = { workspaceId, kind, permissions: permissions ?? [], userId: undefined, expiresAtMs: undefined }
      await apiKeys.add(newApiKeyRecord(token, grant, Date.now()), AbortSignal.timeout(5000))
      return token
    },
    async putFile(workspaceId: WorkspaceId, containerId: string, path: string, body: Buffer, contentType?: string) {
      const Key = `sandboxes/${workspaceId}/${containerId}/${path}`
      await s3.send(new PutObjectCommand({ Bucket: demo.sandbox_bucket, Key, Body: body, ContentType: contentType }))
    },
    async stop(): Promise<void> {
      dynamoDb.destroy()
      s3.destroy()
      await service.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export type RunningService = Awaited<ReturnType<typeof startRunningService>>
