import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { S3Client } from '@aws-sdk/client-s3'
import type { Config } from '../config.ts'
import { createObjectKeys } from '../object-keys.ts'
import { createApiKeyAdministration } from './dynamodb/api-key-administration.ts'
import { createApiKeyStore } from './dynamodb/api-key-store.ts'
import { createDocumentListing } from './dynamodb/document-listing.ts'
import { createDocumentMaintenance } from './dynamodb/document-maintenance.ts'
import { createDocuments } from './dynamodb/documents.ts'
import { createDueWork } from './dynamodb/due-work.ts'
import { createErasures } from './dynamodb/erasures.ts'
import { createLedger } from './dynamodb/ledger.ts'
import { createLedgerMaintenance } from './dynamodb/ledger-maintenance.ts'
import { createLinks } from './dynamodb/links.ts'
import { createRateLimiter } from './dynamodb/rate-limiter.ts'
import { createContainerFileWriter } from './s3/container-file-writer.ts'
import { createContainerFiles } from './s3/container-files.ts'
import { createDocumentObjects } from './s3/document-objects.ts'
import { createDownloadSigner } from './s3/download-signer.ts'
import { createErasedObjects } from './s3/erased-objects.ts'
import { createObjectStore } from './s3/object-store.ts'

export interface StoreSettings {
  config: Config
  dynamoDb: DynamoDBClient
  s3: S3Client
  now(): number
  /** See `headOrList`. */
  onRefusedMissingKey?: (() => void) | undefined
}

type Table = 'keysTable' | 'rateLimitsTable' | 'documentsTable' | 'workspacesTable'
const table = ({ config, dynamoDb: client, now }: StoreSettings, name: Table) => ({
  ...config,
  client,
  tableName: config[name],
  now,
})
const buckets = ({ config, s3: client, onRefusedMissingKey }: StoreSettings) => ({
  ...config,
  client,
  onRefusedMissingKey,
})

// Which adapter stands behind which port. Each is exported, so that a function's bundle has only those that it names.
export const apiKeys = (on: StoreSettings) => createApiKeyStore(table(on, 'keysTable'))
export const keyAdministration = (on: StoreSettings) => createApiKeyAdministration(table(on, 'keysTable'))
export const links = (on: StoreSettings) => createLinks(table(on, 'keysTable'))
export const rateLimiter = (on: StoreSettings) =>
  createRateLimiter({ ...table(on, 'rateLimitsTable'), policy: on.config.rateLimit })
export const ledger = (on: StoreSettings) => createLedger(table(on, 'workspacesTable'))
export const workspaces = (on: StoreSettings) => createLedgerMaintenance(table(on, 'workspacesTable'))
export const erasures = (on: StoreSettings) => createErasures(table(on, 'workspacesTable'))
export const documents = (on: StoreSettings) => createDocuments(table(on, 'documentsTable'))
export const maintainedDocuments = (on: StoreSettings) => ({
  ...documents(on),
  ...createDocumentMaintenance(table(on, 'documentsTable')),
})
export const dueWork = (on: StoreSettings) => createDueWork(table(on, 'documentsTable'))
export const listing = (on: StoreSettings) => createDocumentListing(table(on, 'documentsTable'))
export const objects = (on: StoreSettings) => createObjectStore(buckets(on))
export const documentObjects = (on: StoreSettings) => createDocumentObjects(buckets(on))
export const containerFiles = (on: StoreSettings) => createContainerFiles(buckets(on))
export const containerFileWriter = (on: StoreSettings) => createContainerFileWriter(buckets(on))
export const downloads = (on: StoreSettings) => createDownloadSigner(buckets(on))
export const erasedObjects = (on: StoreSettings) => createErasedObjects(buckets(on))

const PORTS = {
  ...{ apiKeys, keyAdministration, links, rateLimiter, ledger, workspaces, erasures, dueWork, listing },
  ...{ objects, documentObjects, erasedObjects, containerFiles, containerFileWriter, downloads },
  documents: maintainedDocuments,
  objectKeys: ({ config }: StoreSettings) => createObjectKeys(config.keyTemplates),
  leaseMs: ({ config }: StoreSettings) => config.leaseMs,
  now: ({ now }: StoreSettings) => now,
}

/** Some ports, by the names that whoever opens them has for them. */
export function open<Makers extends Record<string, (on: StoreSettings) => unknown>>(makers: Makers, on: StoreSettings) {
  const made = Object.entries(makers).map(([name, make]) => [name, make(on)])
  return Object.fromEntries(made) as { [Name in keyof Makers]: ReturnType<Makers[Name]> }
}

/** All ports: for the command line, the local service and tests. */
export const openStores = (on: StoreSettings) => open(PORTS, on)
