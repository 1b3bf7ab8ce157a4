import { setTimeout as sleep } from 'node:timers/promises'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { createDynamoDbClient } from '../../../lib/aws/clients.ts'
import { readConfig } from '../../../lib/config.ts'
import { formatFileId } from '../../../lib/ids.ts'
import { lambdaContext, restEvent } from '../../support/http/rest-event.ts'
import { allAtOnce } from '../contention/arrivals.ts'
import { createProcess } from '../contention/service.ts'
import { createSimulatedS3 } from '../contention/simulated-s3.ts'
import { serve } from '../worker.ts'

export interface Storm {
  /** By status. */
  answers: Record<string, number>
  /** From the first request until the last answer with 200. */
  seconds: number
}

const tokens = process.argv.slice(2)
const config = readConfig(process.env)
// The sockets of all Lambdas in one process.
const client = createDynamoDbClient({ requestHandler: new NodeHttpHandler({ httpAgent: { maxSockets: 64 } }) })

const methods = {
  /** All in one workspace, each in a Lambda's memory of its own. */
  async run({ count, copySeconds }: { count: number; copySeconds: number }): Promise<Storm> {
    const answers: Storm['answers'] = {}
    const objects = createSimulatedS3({ copySeconds, sizeBytes: 1024 ** 2, latencyMs: () => 0 })
    const handlers = Array.from({ length: count }, () => createProcess(config, client, objects))
    const startedMs = performance.now()
    let lastMs = startedMs
    const request = async (arrived: number, index: number) => {
      await sleep(arrived * 1000)
      const event = restEvent({
        containerId: 'sess_1',
        fileId: formatFileId('output/report.csv'),
        headers: { authorization: `Bearer ${tokens[index % tokens.length]}` },
      })
      const answer = await handlers[index]?.(event as never, lambdaContext())
      const status = answer?.statusCode ?? 0
      answers[status] = (answers[status] ?? 0) + 1
      if (status === 200) lastMs = performance.now()
    }
    await Promise.all(allAtOnce(count).map(request))
    return { answers, seconds: (lastMs - startedMs) / 1000 }
  },
}
export type ContentionMethods = typeof methods

serve(methods)
