import { expect } from 'vitest'
import type { Content } from '../dynamodb/dynalite.ts'
import type { TestProcess } from './test-process.ts'
import type { TestWorkspace } from './workspaces.ts'

const HOURS_MS = 2 * 3_600_000
export const KEY = 'key-of-the-caller'
export const FILE = Buffer.from('small')

export type Reading = <Result>(work: () => Promise<Result>) => Promise<Result>

/** A read of the product that must be strongly consistent, and a promise that is broken when it is not. */
export interface ConsistentRead {
  read: string
  promise: string
  isRead(operation: string, input: Content): boolean
  /** @param reading does the part of the work in which the read is looked at */
  check(process: TestProcess, reading: Reading): Promise<void>
}

export const ofTable =
  (name: string, wanted: string) =>
  (operation: string, { TableName }: Content) =>
    operation === wanted && String(TableName).endsWith(name)
export const withFile = async (process: TestProcess, quotaBytes?: number): Promise<TestWorkspace> => {
  const workspace = await process.newWorkspace(quotaBytes)
  await process.putFile(workspace, 'a.txt', FILE)
  return workspace
}
export const promote = (process: TestProcess, workspace: TestWorkspace, idempotencyKey?: string) =>
  process.promote(workspace, 'a.txt', idempotencyKey === undefined ? {} : { idempotencyKey })
export const dieAfter = async (process: TestProcess, call: string, work: () => Promise<unknown>): Promise<void> => {
  process.breakCalls(({ name }) => (name === call ? { kind: 'kill_after' } : undefined))
  await Promise.race([work().catch(() => {}), process.died()])
  expect(process.isDead()).toBe(true)
  process.restart()
}
export const afterLeases = async <Result>(process: TestProcess, work: () => Promise<Result>): Promise<Result> => {
  process.setClock(HOURS_MS)
  return work().finally(() => process.setClock(0))
}
export const collect = async <Each>(all: AsyncIterable<Each>): Promise<Each[]> => {
  const collected: Each[] = []
  for await (const each of all) collected.push(each)
  return collected
}
