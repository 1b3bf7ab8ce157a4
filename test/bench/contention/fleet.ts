import type { APIGatewayProxyResult } from 'aws-lambda'
import { createRandom } from '../statistics.ts'

/** One process of a Lambda function: it answers one request at a time and keeps what the code keeps in memory. */
export type LambdaProcess = (event: object, context: object) => Promise<APIGatewayProxyResult>

/** How long a new process takes to answer: some 0.3 s on Lambda (docs/performance.md). */
const COLD_START_MS = 300

/** It is not known which idle process Lambda takes; here, it is a random one. */
export function createFleet(start: () => LambdaProcess, seed: number) {
  const random = createRandom(seed)
  const idle: LambdaProcess[] = []
  const take = (): LambdaProcess | undefined => {
    const [taken] = idle.splice(Math.floor(random() * idle.length), 1)
    return taken
  }
  return {
    /** An idle process answers, or a new one if none is idle. */
    async invoke(event: object, context: () => object): Promise<APIGatewayProxyResult> {
      let lambda = take()
      if (lambda === undefined) {
        lambda = start()
        await new Promise((resolve) => setTimeout(resolve, COLD_START_MS))
      }
      // The context is made only now: the time a request may take begins when the process does.
      const answer = await lambda(event, context())
      idle.push(lambda)
      return answer
    },
  }
}
