import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'

/** The schedules of serverless.yml for the resolver: so many of its runs begin at once. */
const RESOLVER_RUNS = 4

/** How many functions may run at once in this account and region, and how many of these no function has reserved. */
export async function concurrencyOfAccount(abortSignal?: AbortSignal): Promise<{ limit: number; unreserved: number }> {
  const options = abortSignal ? { abortSignal } : {}
  const { AccountLimit } = await new LambdaClient({}).send(new GetAccountSettingsCommand({}), options)
  return {
    limit: AccountLimit?.ConcurrentExecutions ?? 0,
    unreserved: AccountLimit?.UnreservedConcurrentExecutions ?? 0,
  }
}

/** @returns what to do where the audit and the resolver take more than half of what may run at once; undefined: nothing */
export function adviceOnShards(unreserved: number, auditShards: number): string | undefined {
  if (auditShards + RESOLVER_RUNS <= unreserved / 2) return undefined
  const fitting = Math.max(1, Math.floor(unreserved / 2) - RESOLVER_RUNS)
  return `${unreserved} functions may run at once in this account and region, and a round of the audit (${auditShards} shards) and the resolver (${RESOLVER_RUNS} runs) take most of that from the requests: raise Lambda's quota "Concurrent executions", or set auditShards=${fitting}`
}
