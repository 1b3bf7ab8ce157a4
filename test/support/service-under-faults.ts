import { randomUUID } from 'node:crypto'
import { GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb'
import { ListMultipartUploadsCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { inject, vi } from 'vitest'
import { hashToken, newToken } from '../../lib/auth/api-token.ts'
import { formatFileId } from '../../lib/promotion/ids.ts'
import { type FaultProxy, nameDynamoDbCall, nameS3Call, startFaultProxy } from './fault-proxy.ts'
import { type AnyResponse, expectDocumented } from './openapi.ts'
import { lambdaContext, restEvent } from './rest-event.ts'
import { CREDENTIALS, startStandIns } from './stand-ins.ts'

export interface TestWorkspace {
  workspaceId: string
  token: string
}

/** What is stored for a workspace, read past the proxies. */
export interface WorkspaceState {
  documents: number
  objects: number
  unfinishedUploads: number
  usedBytes: number
  reservations: number
}

/** The real function with its real SDK clients, on the stand-ins, through proxies that can break any call. */
export async function startServiceUnderFaults() {
  const standIns = await startStandIns()
  const { config, dynamoDb, s3 } = standIns
  const dynamoDbProxy = await startFaultProxy(standIns.dynamoDbEndpoint, nameDynamoDbCall)
  const s3Proxy = await startFaultProxy(standIns.s3Endpoint, nameS3Call)
  const environment = {
    ...inject('definition').environment,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDbProxy.endpoint,
    AWS_ENDPOINT_URL_S3: s3Proxy.endpoint,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
  }
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  const { handler } = await import('../../functions/promote-container-file.ts')

  async function newWorkspace(): Promise<TestWorkspace> {
    const token = newToken()
    const workspaceId = `ws_${randomUUID()}`
    const key = {
      token_hash: hashToken(token),
      key_id: `key_${workspaceId}`,
      workspace_id: workspaceId,
      kind: 'management',
      status: 'enabled',
    }
    await dynamoDb.send(new PutItemCommand({ TableName: config.keysTable, Item: marshall(key) }))
    return { workspaceId, token }
  }

  async function putFile({ workspaceId }: TestWorkspace, path: string, bytes: Buffer): Promise<void> {
    const Key = `sandboxes/${workspaceId}/sess_1/${path}`
    await s3.send(new PutObjectCommand({ Bucket: config.sandboxBucket, Key, Body: bytes, ContentType: 'text/plain' }))
  }

  async function promote(
    { token }: TestWorkspace,
    path: string,
    options: { containerId?: string; remainingMs?: number } = {},
  ): Promise<AnyResponse> {
    const event = restEvent({
      containerId: options.containerId ?? 'sess_1',
      fileId: formatFileId(path),
      headers: { authorization: `Bearer ${token}` },
    })
    const answer = await handler(event as never, lambdaContext(options.remainingMs))
    const headers = Object.fromEntries(
      Object.entries(answer.headers ?? {}).map(([name, value]) => [name, String(value)]),
    )
    const response = { status: answer.statusCode, headers, body: JSON.parse(answer.body) }
    expectDocumented(response)
    return response
  }

  async function stateOf({ workspaceId }: TestWorkspace): Promise<WorkspaceState> {
    const query = new QueryCommand({
      TableName: config.documentsTable,
      KeyConditionExpression: 'workspace_id = :workspace_id',
      FilterExpression: 'record_kind = :document',
      ExpressionAttributeValues: marshall({ ':workspace_id': workspaceId, ':document': 'document' }),
    })
    const get = new GetItemCommand({ TableName: config.workspacesTable, Key: marshall({ workspace_id: workspaceId }) })
    const prefix = { Bucket: config.documentsBucket, Prefix: `documents/${workspaceId}/` }
    const { Items = [] } = await dynamoDb.send(query)
    const { Item } = await dynamoDb.send(get)
    const { Contents = [] } = await s3.send(new ListObjectsV2Command(prefix))
    const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand(prefix))
    const workspace = Item && unmarshall(Item)
    return {
      documents: Items.length,
      objects: Contents.length,
      unfinishedUploads: Uploads.length,
      usedBytes: workspace ? workspace.quota_bytes - workspace.remaining_bytes : 0,
      reservations: Object.keys(workspace?.reservations ?? {}).length,
    }
  }

  const proxies: FaultProxy[] = [dynamoDbProxy, s3Proxy]
  return {
    config,
    newWorkspace,
    putFile,
    promote,
    stateOf,
    /** Makes calls fail from now on. */
    breakCalls(fault: FaultProxy['fault']): void {
      for (const proxy of proxies) proxy.fault = fault
    },
    /** Names of all calls since the last look, DynamoDB's first. */
    takeCalls(): string[] {
      return proxies.flatMap((proxy) => proxy.calls.splice(0).map(({ name }) => name))
    },
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.stop()))
      await standIns.stop()
    },
  }
}
