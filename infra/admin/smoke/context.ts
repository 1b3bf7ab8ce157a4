import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { S3Client } from '@aws-sdk/client-s3'
import type { ContainerId, DocumentId, FilePath, WorkspaceId } from '../../../lib/promotion/ids.ts'
import type { Stores } from '../connect.ts'

export interface SmokeFile {
  path: FilePath
  bytes: Buffer
}

/** What the checks share: a workspace of their own, and where to reach the service. */
export interface SmokeContext {
  stores: Stores
  s3: S3Client
  dynamoDb: DynamoDBClient
  /** Ends in the version, as base_url does everywhere. */
  baseUrl: string
  workspaceId: WorkspaceId
  containerId: ContainerId
  files: { small: SmokeFile; oddlyNamed: SmokeFile; large: SmokeFile }
  /** Of a key that may do everything in the workspace. */
  token: string
  keyId: string
  tokenHash: string
  /** What the service answered: the documents that are there, by the file they were made of. */
  documents: Map<DocumentId, SmokeFile>
  /** Of requests that were answered 200. */
  requestIds: string[]
  startedAtMs: number
}

/** A check that found something else than it should. */
export class SmokeFault extends Error {}
/** A check that cannot be made here; its message says why. */
export class NotChecked extends Error {}
