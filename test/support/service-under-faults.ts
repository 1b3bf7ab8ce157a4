import { inject, vi } from 'vitest'
import { formatFileId } from '../../lib/ids.ts'
import type { LimitedDynamoDbOptions } from './dynamodb/limited-dynamodb.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { type AnyResponse, expectDocumented } from './openapi.ts'
import { lambdaContext, restEvent } from './rest-event.ts'
import { CREDENTIALS, startStandIns } from './stand-ins.ts'
import { createWorld, type TestWorkspace } from './world.ts'

/** The real function with its real SDK clients, on the stand-ins, through proxies that can break any call. */
export async function startServiceUnderFaults({
  logLevel = 'SILENT',
  limited,
}: {
  logLevel?: string
  /** A DynamoDB that charges what the real one does. */
  limited?: LimitedDynamoDbOptions
} = {}) {
  const standIns = await startStandIns(undefined, limited)
  const dynamoDbProxy = await startFaultProxy(standIns.dynamoDbEndpoint)
  const s3Proxy = await startFaultProxy(standIns.s3Endpoint)
  const environment = {
    ...inject('definition').environment,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDbProxy.endpoint,
    AWS_ENDPOINT_URL_S3: s3Proxy.endpoint,
    POWERTOOLS_LOG_LEVEL: logLevel,
  }
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  const { handler } = await import('../../functions/promote-container-file.ts')

  const world = createWorld(standIns)

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

  const proxies: FaultProxy[] = [dynamoDbProxy, s3Proxy]
  return {
    ...world,
    promote,
    /** Makes calls fail from now on. */
    breakCalls(fault: FaultProxy['fault']): void {
      for (const proxy of proxies) proxy.fault = fault
    },
    /** All calls since the last look, DynamoDB's first. */
    async deliverLate(): Promise<void> {
      for (const proxy of proxies) await proxy.deliverLate()
    },
    takeCalls: () => proxies.flatMap((proxy) => proxy.calls.splice(0)),
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.stop()))
      await standIns.stop()
    },
  }
}
