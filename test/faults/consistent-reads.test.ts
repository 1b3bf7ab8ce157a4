import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newApiKeyRecord } from '../../lib/auth/api-key-administration.ts'
import { hashToken, newToken } from '../../lib/auth/api-token.ts'
import { createApiKeyAdministration } from '../../lib/aws/api-key-administration.ts'
import { createDocumentListing } from '../../lib/aws/document-listing.ts'
import { createWorkspaceAdministration } from '../../lib/aws/workspace-administration.ts'
import type { DocumentId } from '../../lib/ids.ts'
import type { Content } from '../support/dynamodb/dynalite.ts'
import { startTestProcess, type TestProcess } from '../support/faults/test-process.ts'
import { createTestStores } from '../support/faults/test-stores.ts'
import type { TestWorkspace } from '../support/faults/workspaces.ts'

/** Longer than a test: what is read weakly knows nothing of it. */
const STALE_MS = 3_600_000
const HOURS_MS = 2 * 3_600_000
const KEY = 'key-of-the-caller'
const FILE = Buffer.from('small')
const LIB = join(import.meta.dirname, '../../lib')

const signal = AbortSignal.timeout(600_000)
let process: TestProcess
/** Consistent reads that are made weak at the moment. */
let isWeak: (operation: string, input: Content) => boolean

beforeAll(async () => {
  isWeak = () => false
  const stores = await createTestStores({
    now: Date.now,
    staleMs: STALE_MS,
    rewrite(operation, input) {
      const { ConsistentRead, ...weaker } = input
      return ConsistentRead && isWeak(operation, input) ? weaker : input
    },
  })
  process = await startTestProcess(stores)
})
afterAll(() => process.stop())

type Reading = <Result>(work: () => Promise<Result>) => Promise<Result>

/** A read of the product that must be strongly consistent, and a promise that is broken when it is not. */
interface Check {
  read: string
  promise: string
  isRead(operation: string, input: Content): boolean
  /** @param reading does the part of the work in which the read is looked at */
  check(reading: Reading): Promise<void>
}

const ofTable =
  (name: string, wanted: string) =>
  (operation: string, { TableName }: Content) =>
    operation === wanted && String(TableName).endsWith(name)
const withFile = async (quotaBytes?: number): Promise<TestWorkspace> => {
  const workspace = await process.newWorkspace(quotaBytes)
  await process.putFile(workspace, 'a.txt', FILE)
  return workspace
}
const promote = (workspace: TestWorkspace, idempotencyKey?: string) =>
  process.promote(workspace, 'a.txt', idempotencyKey === undefined ? {} : { idempotencyKey })
const dieAfter = async (call: string, work: () => Promise<unknown>): Promise<void> => {
  process.breakCalls(({ name }) => (name === call ? { kind: 'kill_after' } : undefined))
  await Promise.race([work().catch(() => {}), process.died()])
  expect(process.isDead()).toBe(true)
  process.restart()
}
const afterLeases = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  process.setClock(HOURS_MS)
  return work().finally(() => process.setClock(0))
}
const collect = async <Each>(all: AsyncIterable<Each>): Promise<Each[]> => {
  const collected: Each[] = []
  for await (const each of all) collected.push(each)
  return collected
}
const workspaces = () =>
  createWorkspaceAdministration({ client: process.dynamoDb, tableName: process.config.workspacesTable })
const listing = () => createDocumentListing({ client: process.dynamoDb, tableName: process.config.documentsTable })
const keys = () => createApiKeyAdministration({ client: process.dynamoDb, tableName: process.config.keysTable })

const CHECKS: Check[] = [
  {
    read: 'the API key of a request',
    promise: 'a key that was disabled is refused from then on',
    isRead: ofTable('-keys', 'GetItem'),
    async check(reading) {
      const workspace = await withFile()
      expect((await promote(workspace)).status).toBe(200)
      await keys().change(hashToken(workspace.token), { isEnabled: false }, signal)
      expect((await promote(workspace)).status).toBe(401)
      await keys().change(hashToken(workspace.token), { isEnabled: true }, signal)
      expect((await reading(() => promote(workspace))).status).toBe(200)
    },
  },
  {
    read: 'the list of API keys',
    promise: 'it shows the key that was just added',
    isRead: ofTable('-keys', 'Scan'),
    async check(reading) {
      const { workspaceId } = await process.newWorkspace()
      const grant = {
        workspaceId,
        kind: 'standard',
        permissions: [],
        userId: undefined,
        expiresAtMs: undefined,
      } as const
      const key = newApiKeyRecord(newToken(), grant, Date.now())
      await keys().add(key, signal)
      const listed = await reading(() => collect(keys().list({ keyId: key.keyId }, signal)))
      expect(listed).toEqual([key])
    },
  },
  {
    read: 'the ids of all workspaces',
    promise: 'the audit leaves none out',
    isRead: (operation, input) =>
      ofTable('-workspaces', 'Scan')(operation, input) && input.ProjectionExpression !== undefined,
    async check(reading) {
      const { workspaceId } = await process.newWorkspace(1000)
      expect(await reading(() => collect(process.deps.ledgers.list(signal)))).toContain(workspaceId)
    },
  },
  {
    read: 'the list of workspaces',
    promise: 'it shows the one that was just made',
    isRead: ofTable('-workspaces', 'Scan'),
    async check(reading) {
      const { workspaceId } = await process.newWorkspace(1000)
      const listed = await reading(() => collect(process.deps.ledgers.readAll(signal)))
      expect(listed.map((ledger) => ledger.workspaceId)).toContain(workspaceId)
    },
  },
  {
    read: 'the ledger of a workspace, by the resolver',
    promise: 'what a dead process left is finished',
    isRead: ofTable('-workspaces', 'GetItem'),
    async check(reading) {
      const workspace = await withFile(1000)
      await dieAfter('ledger.take', () => promote(workspace))
      expect(await process.stateOf(workspace)).toMatchObject({ usedBytes: FILE.length, reservations: 1 })
      await afterLeases(() => reading(() => process.resolveWorkspace(workspace.workspaceId)))
      expect(await process.stateOf(workspace)).toMatchObject({ usedBytes: 0, reservations: 0 })
    },
  },
  {
    read: 'the ledger of a workspace, by its administration',
    promise: 'a quota can be set right after the workspace was made',
    isRead: ofTable('-workspaces', 'GetItem'),
    async check(reading) {
      const { workspaceId } = await process.newWorkspace(1000)
      const set = await reading(() => workspaces().setQuota(workspaceId, 500, signal))
      expect(set).toEqual({ previousQuotaBytes: 1000, usage: { quotaBytes: 500, usedBytes: 0 } })
    },
  },
  {
    read: 'the document of an Idempotency-Key',
    promise: 'a repetition gets the document of the first request',
    isRead: ofTable('-documents', 'GetItem'),
    async check(reading) {
      const workspace = await withFile()
      const first = await promote(workspace, KEY)
      const second = await reading(() => promote(workspace, KEY))
      expect(second).toMatchObject({ status: 200, body: first.body, headers: { 'idempotency-replayed': 'true' } })
    },
  },
  {
    read: 'the rows of a workspace',
    promise: 'the audit misses no document',
    isRead: ofTable('-documents', 'Query'),
    async check(reading) {
      const workspace = await withFile()
      await promote(workspace)
      expect(await reading(() => process.audit(workspace.workspaceId, false))).toEqual([])
    },
  },
  {
    read: 'the documents of a workspace',
    promise: 'a platform team sees what was just promoted',
    isRead: ofTable('-documents', 'Query'),
    async check(reading) {
      const workspace = await withFile()
      const { id } = (await promote(workspace)).body as { id: DocumentId }
      const listed = await reading(() => collect(process.deps.documents.list(workspace.workspaceId, signal)))
      expect(listed.map(({ documentId }) => documentId)).toEqual([id])
    },
  },
  {
    read: 'whether a workspace has documents',
    promise: 'a shard of the audit leaves a workspace to the shard that has its rows',
    isRead: ofTable('-documents', 'Query'),
    async check(reading) {
      const workspace = await withFile()
      await promote(workspace)
      expect(await reading(() => process.deps.documents.hasWorkspace(workspace.workspaceId, signal))).toBe(true)
    },
  },
  {
    read: 'documents by their ids',
    promise: 'what was just promoted is among them',
    isRead: ofTable('-documents', 'GetItem'),
    async check(reading) {
      const workspace = await withFile()
      const { id } = (await promote(workspace)).body as { id: DocumentId }
      const found = await reading(() => listing().findAll(workspace.workspaceId, [id], signal))
      expect(found.map(({ documentId }) => documentId)).toEqual([id])
    },
  },
  {
    read: 'where a document stands in the order of creation',
    promise: 'a listing goes on behind the newest',
    isRead: ofTable('-documents', 'GetItem'),
    async check(reading) {
      const workspace = await withFile()
      const { id } = (await promote(workspace)).body as { id: DocumentId }
      const position = await reading(() => listing().positionOf(workspace.workspaceId, id, signal))
      expect(position).toMatchObject({ documentId: id })
    },
  },
  {
    read: 'the reservation of a twin',
    promise: 'a repetition is not refused for bytes that its own first request has taken',
    isRead: ofTable('-reservations', 'GetItem'),
    async check(reading) {
      const workspace = await withFile(FILE.length)
      await dieAfter('reservations.open', () => promote(workspace, KEY))
      const { status, body } = await reading(() => promote(workspace, KEY))
      expect({ status, body }).toMatchObject({
        status: 503,
        body: { error: { metadata: { reason: 'promotion_in_progress' } } },
      })
    },
  },
  {
    read: 'the reservations of a workspace',
    promise: 'the bytes of a dead promotion are given back once, and nothing is left',
    isRead: ofTable('-reservations', 'Query'),
    async check(reading) {
      const workspace = await withFile()
      await dieAfter('reservations.open', () => promote(workspace, KEY))
      await afterLeases(() => reading(() => process.resolveWorkspace(workspace.workspaceId)))
      expect(await process.stateOf(workspace)).toMatchObject({ usedBytes: 0, reservations: 0 })
    },
  },
]

describe('reads that are strongly consistent, where all others show the past', () => {
  it.each(CHECKS)('$read: $promise', async ({ check }) => {
    await check((work) => work())
  })

  it.each(CHECKS)('$read: it would be noticed if it was not consistent', async ({ isRead, check }) => {
    const checking = check(async (work) => {
      isWeak = isRead
      return work().finally(() => {
        isWeak = () => false
      })
    })
    await expect(checking).rejects.toThrow()
  })

  it('are all looked at here', async () => {
    const files = (await readdir(LIB, { recursive: true })).filter((file) => file.endsWith('.ts'))
    const sources = await Promise.all(files.map((file) => readFile(join(LIB, file), 'utf8')))
    expect(sources.join('').match(/\bConsistentRead: true\b/g)).toHaveLength(CHECKS.length)
  })
})
