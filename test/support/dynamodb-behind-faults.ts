import { NodeHttpHandler } from '@smithy/node-http-handler'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { createDynamoDbClient } from '../../lib/aws/clients.ts'
import { type FaultProxy, startFaultProxy } from './faults/fault-proxy.ts'
import { CREDENTIALS, type StandIns, startStandIns } from './stand-ins.ts'

interface DynamoDbBehindFaults {
  standIns: StandIns
  /** Breaks nothing at the beginning of each test. */
  proxy: FaultProxy
  /** Calls through the proxy; one that hangs is given up early. */
  client: ReturnType<typeof createDynamoDbClient>
}

/** For all tests of a file. @returns what is there once they run */
export function useDynamoDbBehindFaults(): DynamoDbBehindFaults {
  const used = {} as DynamoDbBehindFaults
  beforeAll(async () => {
    used.standIns = await startStandIns()
    used.proxy = await startFaultProxy(used.standIns.dynamoDbEndpoint)
    used.client = createDynamoDbClient({
      region: 'us-east-1',
      credentials: CREDENTIALS,
      endpoint: used.proxy.endpoint,
      // Shorter than the product's, so that a call that hangs is repeated within the test's patience.
      requestHandler: new NodeHttpHandler({ requestTimeout: 300, throwOnRequestTimeout: true }),
    })
  })
  afterAll(async () => {
    used.client.destroy()
    await used.proxy.stop()
    await used.standIns.stop()
  })
  beforeEach(() => {
    used.proxy.fault = () => undefined
  })
  return used
}
