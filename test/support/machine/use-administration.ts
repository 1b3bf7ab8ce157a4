import { afterAll, beforeAll } from 'vitest'
import { type AwsCall, type FaultProxy, startFaultProxy } from '../protocol/fault-proxy.ts'
import { startTestProcess, type TestProcess } from '../protocol/test-process.ts'
import { createTestStores } from '../protocol/test-stores.ts'
import type { TestWorkspace } from '../protocol/workspaces.ts'
import { environmentOn } from '../stores/aws-endpoints.ts'
import { type AdminResult, jsonLines, runAdmin } from './admin.ts'

export const TOKEN = /cfp_[0-9A-Za-z]{61}/

/** The command line and a process of the service, on the same stores in memory. */
export function useAdministration() {
  let service: TestProcess
  let dynamoDb: FaultProxy
  let s3: FaultProxy

  beforeAll(async () => {
    service = await startTestProcess(await createTestStores())
    dynamoDb = await startFaultProxy(service.stores.dynamoDb)
    s3 = await startFaultProxy(service.stores.s3)
  })
  afterAll(() => Promise.all([dynamoDb.stop(), s3.stop(), service.stop()]))

  const environment = () => environmentOn(dynamoDb.endpoint, s3.endpoint)
  const admin = (...args: string[]): Promise<AdminResult> => runAdmin(args, environment())
  const promote = (workspace: TestWorkspace, path = 'a.txt') => service.promote(workspace, path)

  return {
    service: () => service,
    admin,
    promote,
    /** Runs the command line at a terminal. @param meanwhile happens before its question is answered with yes */
    adminAsked: (meanwhile: () => unknown, ...args: string[]): Promise<AdminResult> =>
      runAdmin(args, environment(), meanwhile),
    /** Runs the command line while neither store answers the calls that this denies. */
    async adminWhile(isDenied: (call: AwsCall) => boolean, ...args: string[]): Promise<AdminResult> {
      const denied = { __type: 'AccessDeniedException', message: 'denied' }
      const body = `<Error><Code>AccessDenied</Code><Message>denied</Message></Error>`
      dynamoDb.fault = (call) =>
        isDenied(call) ? { kind: 'answer', status: 400, body: JSON.stringify(denied) } : undefined
      s3.fault = (call) => (isDenied(call) ? { kind: 'answer', status: 403, body } : undefined)
      const result = await admin(...args)
      for (const store of [dynamoDb, s3]) store.fault = () => undefined
      return result
    },
    /** A workspace with a key from the command line and one document. */
    async workspaceWithDocument(workspaceId: string) {
      const create = ['keys', 'create', '--workspace', workspaceId, '--management', '--yes', '--json']
      const [key] = jsonLines(await admin(...create))
      const workspace = { workspaceId, token: key?.token } as TestWorkspace
      await service.putFile(workspace, 'a.txt', Buffer.alloc(1000))
      const { body } = await promote(workspace)
      return { ...workspace, documentId: (body as { id: string }).id, keyId: `${key?.key_id}` }
    },
  }
}
