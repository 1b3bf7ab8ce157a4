import { type DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { type Check, notChecked, problem } from './check.ts'

/** A lease is two minutes, and the audit calls a leftover overdue by this machine's clock. */
const TOLERATED_SKEW_MS = 60_000

/** This machine's clock compared with DynamoDB's. Any answer tells the time, even a refusal. */
export function clockCheck(client: DynamoDBClient): Check {
  return {
    name: 'clock',
    async run(abortSignal) {
      let date: string | undefined
      client.middlewareStack.add(
        (next) => async (args) => {
          const answer = await next(args)
          date = (answer.response as { headers?: Record<string, string> }).headers?.date
          return answer
        },
        // The step closest to the wire comes before an error answer is thrown.
        { step: 'deserialize', priority: 'low', name: 'readServerDate' },
      )
      await client.send(new ListTablesCommand({ Limit: 1 }), { abortSignal }).catch((error) => {
        if (date === undefined) throw error
      })
      if (date === undefined) return notChecked('the server does not tell its time')
      const skewMs = Date.now() - Date.parse(date)
      const seconds = Math.round(Math.abs(skewMs) / 1000)
      if (Math.abs(skewMs) <= TOLERATED_SKEW_MS) return `within ${Math.max(1, seconds)} s of DynamoDB's`
      return problem(`${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} DynamoDB's: set this machine's clock`)
    },
  }
}
