import { expect } from 'vitest'
import { newApiKeyRecord } from '../../../lib/auth/api-key-administration.ts'
import { hashToken, newToken } from '../../../lib/auth/api-token.ts'
import { createApiKeyAdministration } from '../../../lib/aws/api-key-administration.ts'
import { createWorkspaceAdministration } from '../../../lib/aws/workspace-administration.ts'
import {
  afterLeases,
  type ConsistentRead,
  collect,
  dieAfter,
  FILE,
  ofTable,
  promote,
  withFile,
} from './consistent-read.ts'
import type { TestProcess } from './test-process.ts'

const signal = AbortSignal.timeout(600_000)
const workspaces = (process: TestProcess) =>
  createWorkspaceAdministration({ client: process.dynamoDb, tableName: process.config.workspacesTable })
const keys = (process: TestProcess) =>
  createApiKeyAdministration({ client: process.dynamoDb, tableName: process.config.keysTable })

/** Of keys and of workspaces. */
export const READS_OF_LEDGERS: readonly ConsistentRead[] = [
  {
    read: 'the API key of a request',
    promise: 'a key that was disabled is refused from then on',
    isRead: ofTable('-keys', 'GetItem'),
    async check(process, reading) {
      const workspace = await withFile(process)
      expect((await promote(process, workspace)).status).toBe(200)
      await keys(process).change(hashToken(workspace.token), { isEnabled: false }, signal)
      expect((await promote(process, workspace)).status).toBe(401)
      await keys(process).change(hashToken(workspace.token), { isEnabled: true }, signal)
      expect((await reading(() => promote(process, workspace))).status).toBe(200)
    },
  },
  {
    read: 'the list of API keys',
    promise: 'it shows the key that was just added',
    isRead: ofTable('-keys', 'Scan'),
    async check(process, reading) {
      const { workspaceId } = await process.newWorkspace()
      const grant = {
        workspaceId,
        kind: 'standard',
        permissions: [],
        userId: undefined,
        expiresAtMs: undefined,
      } as const
      const key = newApiKeyRecord(newToken(), grant, Date.now())
      await keys(process).add(key, signal)
      const listed = await reading(() => collect(keys(process).list({ keyId: key.keyId }, signal)))
      expect(listed).toEqual([key])
    },
  },
  {
    read: 'the ids of all workspaces',
    promise: 'the audit leaves none out',
    isRead: (operation, input) =>
      ofTable('-workspaces', 'Scan')(operation, input) && input.ProjectionExpression !== undefined,
    async check(process, reading) {
      const { workspaceId } = await process.newWorkspace(1000)
      expect(await reading(() => collect(process.deps.ledgers.list(signal)))).toContain(workspaceId)
    },
  },
  {
    read: 'the list of workspaces',
    promise: 'it shows the one that was just made',
    isRead: ofTable('-workspaces', 'Scan'),
    async check(process, reading) {
      const { workspaceId } = await process.newWorkspace(1000)
      const listed = await reading(() => collect(process.deps.ledgers.readAll(signal)))
      expect(listed.map((ledger) => ledger.workspaceId)).toContain(workspaceId)
    },
  },
  {
    read: 'the ledger of a workspace, by the resolver',
    promise: 'what a dead process left is finished',
    isRead: ofTable('-workspaces', 'GetItem'),
    async check(process, reading) {
      const workspace = await withFile(process, 1000)
      await dieAfter(process, 'ledger.take', () => promote(process, workspace))
      expect(await process.stateOf(workspace)).toMatchObject({ usedBytes: FILE.length, reservations: 1 })
      await afterLeases(process, () => reading(() => process.resolveWorkspace(workspace.workspaceId)))
      expect(await process.stateOf(workspace)).toMatchObject({ usedBytes: 0, reservations: 0 })
    },
  },
  {
    read: 'the ledger of a workspace, by its administration',
    promise: 'a quota can be set right after the workspace was made',
    isRead: ofTable('-workspaces', 'GetItem'),
    async check(process, reading) {
      const { workspaceId } = await process.newWorkspace(1000)
      const set = await reading(() => workspaces(process).setQuota(workspaceId, 500, signal))
      expect(set).toEqual({ previousQuotaBytes: 1000, usage: { quotaBytes: 500, usedBytes: 0 } })
    },
  },
]
