import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createDynamoDbClient } from '../../../lib/aws/clients.ts'
import type { Transport } from '../aws/in-process.ts'
import type { Store } from '../aws/store.ts'
import { CREDENTIALS } from '../stores/stand-ins.ts'
import { newLife, startBreakableTransport } from './breakable-transport.ts'
import type { AwsCall, Fault } from './fault-proxy.ts'

/** Never reached, however busy the machine. */
const PATIENT_MS = 60_000

export interface BreakableDynamoDb {
  /** The product's, whose calls go over the network. */
  client: DynamoDBClient
  /** Every call since it was last cleared, repetitions included. */
  calls: AwsCall[]
  /** Decides what happens to a call from now on; undefined: nothing does. */
  fault: (call: AwsCall) => Fault | undefined
  /** Hands the calls that were held back to the store. */
  deliverLate(): Promise<void>
  stop(): Promise<void>
}

/** A client of the product whose calls can be broken. One that hangs is given up early. */
export async function startBreakableDynamoDb(store: Store): Promise<BreakableDynamoDb> {
  const life = newLife(true)
  let network: Transport | undefined
  const transport = await startBreakableTransport({
    store,
    network: () => network as Transport,
    lifeOf: () => life,
    patienceMs: PATIENT_MS,
  })
  const client = createDynamoDbClient({
    region: 'us-east-1',
    credentials: CREDENTIALS,
    endpoint: transport.endpoint,
  })
  network = client.config.requestHandler as never
  client.config.requestHandler = transport as never
  const dynamoDb: BreakableDynamoDb = {
    client,
    calls: life.calls,
    fault: () => undefined,
    deliverLate: transport.deliverLate,
    async stop() {
      client.destroy()
      await transport.stop()
    },
  }
  life.faultOf = (call) => dynamoDb.fault(call)
  return dynamoDb
}
