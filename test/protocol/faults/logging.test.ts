import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createLog } from '../../../lib/logging.ts'
import { createMetrics } from '../../../lib/metrics.ts'
import { dynamoDbError, REFUSED, s3Error } from '../../support/protocol/aws-failures.ts'
import type { Fault } from '../../support/protocol/fault-proxy.ts'
import { startTestProcess, type TestProcess } from '../../support/protocol/test-process.ts'
import { createTestStores } from '../../support/protocol/test-stores.ts'

describe('the log', () => {
  let service: TestProcess
  const written: string[] = []
  beforeAll(async () => {
    vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'DEBUG')
    const stores = await createTestStores()
    const { serviceName } = stores.config
    service = await startTestProcess(stores, {
      log: createLog({ serviceName, functionName: 'promote-container-file' }),
      metrics: createMetrics(serviceName),
    })
    const keep = (text: unknown) => {
      written.push(String(text))
      return true
    }
    vi.spyOn(process.stdout, 'write').mockImplementation(keep as never)
    vi.spyOn(process.stderr, 'write').mockImplementation(keep as never)
  })
  afterEach(() => service.restart())
  afterAll(async () => {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    await service.stop()
  })

  it.each<[string, Fault | undefined]>([
    ['CopyObject', s3Error(403, 'AccessDenied')],
    ['documents.record', dynamoDbError(403, 'AccessDeniedException')],
    ['ledger.hold', REFUSED],
    ['nothing', undefined],
  ])('tells ids and causes when %s fails, and never a token, a signature or a content', async (call, fault) => {
    const workspace = await service.newWorkspace()
    const content = 'the content of the file, nobody else may read it'
    await service.putFile(workspace, 'a.txt', Buffer.from(content))
    service.breakCalls(({ name }) => (name === call ? fault : undefined))
    written.length = 0
    const response = await service.promote(workspace, 'a.txt')
    const log = written.join('')
    const lines = log
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
    const requestId = response.headers['x-request-id']
    expect(lines).toContainEqual(
      expect.objectContaining({
        message: 'request answered',
        request_id: requestId,
        workspace_id: workspace.workspaceId,
        status: response.status,
      }),
    )
    if (fault) {
      const error = expect.objectContaining({
        name: expect.any(String),
        stack: expect.any(String),
        call,
      })
      expect(lines).toContainEqual(
        expect.objectContaining({ level: 'ERROR', message: 'request answered', request_id: requestId, error }),
      )
    }
    for (const secret of [workspace.token, content, 'Signature=', 'Credential=', 'Bearer', 'x-amz-security-token']) {
      expect(log).not.toContain(secret)
    }
  })
})
