import { expect } from 'vitest'
import { createApiKeyAdministration } from '../../../lib/aws/dynamodb/api-key-administration.ts'
import { createDocumentListing } from '../../../lib/aws/dynamodb/document-listing.ts'
import type { DocumentId } from '../../../lib/ids.ts'
import type { OperationName } from '../api/operations.ts'
import type { Content } from '../dynamodb/dynalite.ts'
import type { TestProcess } from './test-process.ts'
import type { TestWorkspace } from './workspaces.ts'

type Reading = <Result>(work: () => Promise<Result>) => Promise<Result>
type IsRead = (operation: string, input: Content) => boolean

/** A read of the product that must be strongly consistent, and a promise that would be broken if it were not. */
export interface ConsistentRead {
  read: string
  promise: string
  isRead: IsRead
  /**
   * @param reading does the part of the work in which the read is looked at
   * @param rest until all reads show what has been written so far
   */
  check(process: TestProcess, reading: Reading, rest: () => void): Promise<void>
}

export const FILE = Buffer.from('small')
export const signal = AbortSignal.timeout(600_000)

export const ofTable =
  (name: string, wanted: string): IsRead =>
  (operation, { TableName }) =>
    operation === wanted && String(TableName).endsWith(name)
export const administration = (process: TestProcess) => process.deps.workspaces
export const keys = (process: TestProcess) =>
  createApiKeyAdministration({ client: process.dynamoDb, tableName: process.config.keysTable })
export const listing = (process: TestProcess) =>
  createDocumentListing({ client: process.dynamoDb, tableName: process.config.documentsTable, now: process.deps.now })

export const promote = (process: TestProcess, workspace: TestWorkspace) => process.promote(workspace, 'a.txt')
export const call = (process: TestProcess, workspace: TestWorkspace, name: OperationName, document_id: DocumentId) =>
  process.call(name, workspace, { parameters: { document_id } })
export const withFile = async (process: TestProcess, quotaBytes?: number) => {
  const workspace = await process.newWorkspace(quotaBytes)
  await process.putFile(workspace, 'a.txt', FILE)
  return workspace
}
export const withDocument = async (process: TestProcess, quotaBytes?: number) => {
  const workspace = await withFile(process, quotaBytes)
  const { body } = await promote(process, workspace)
  return { ...workspace, id: (body as { id: DocumentId }).id }
}
export const dieAfter = async (process: TestProcess, call: string, work: () => Promise<unknown>) => {
  process.breakCalls(({ name }) => (name === call ? { kind: 'kill_after' } : undefined))
  await Promise.race([work().catch(() => {}), process.died()])
  expect(process.mayBeReplaced()).toBe(true)
  process.restart()
}

/** Makes something and expects the next look to show it. */
export const shows = <Made>(
  read: string,
  promise: string,
  isRead: IsRead,
  {
    make,
    look,
    seen,
  }: {
    make: (process: TestProcess) => Promise<Made>
    look: (process: TestProcess, made: Made) => Promise<unknown>
    seen: (made: Made) => unknown
  },
): ConsistentRead => ({
  read,
  promise,
  isRead,
  async check(process, reading) {
    const made = await make(process)
    expect(await reading(() => look(process, made))).toEqual(seen(made))
  },
})
