import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { functions } from './functions.ts'

const RESOLVER_RUNS = functions().resolveDueWork?.events.length ?? 0

/** How many functions may run at once in this account and region, and how many of these no function has reserved. */
export async function concurrencyOfAccount() {
  const { AccountLimit } = await new LambdaClient({}).send(new GetAccountSettingsCommand({}))
  const { ConcurrentExecutions: limit = 0, UnreservedConcurrentExecutions: unreserved = 0 } = AccountLimit ?? {}
  return { limit, unreserved }
}

/** @returns what to do where audit and resolver take more than half of what may run at once */
export function adviceOnShards(unreserved: number, auditShards: number): string[] {
  if (auditShards + RESOLVER_RUNS <= unreserved / 2) return []
  const fitting = Math.floor(unreserved / 2) - RESOLVER_RUNS
  return [
    `${unreserved} functions may run at once in this account and region, and a round of the audit (${auditShards} shards) and the resolver (${RESOLVER_RUNS} runs) take most of that from the requests: raise Lambda's quota "Concurrent executions"${fitting > 0 ? `, or set auditShards=${fitting}` : ''}`,
  ]
}
