import { resolveDueItems } from '../../../lib/ledger/resolve-due-items.ts'
import { KEPT_MS, RESOLVER } from './deployed.ts'
import { clock, dependenciesOf, type World } from './world.ts'

/** The shards of each schedule. */
export function groupsOf(shards: readonly number[], count: number = RESOLVER.groups): number[][] {
  const size = shards.length / count
  return Array.from({ length: count }, (_, group) => shards.slice(group * size, (group + 1) * size))
}

/** One run of the resolver, as the function does it. @returns what came of expired documents, and how long they took */
export async function runResolver({ start, config }: World, shards: readonly number[]) {
  const { memoryMib, timeoutMs } = RESOLVER
  const deps = dependenciesOf(start(memoryMib), config)
  const run = { timeoutEachMs: 10_000, shards }
  const signal = AbortSignal.timeout(timeoutMs - KEPT_MS)
  const startedMs = clock.now()
  const expire = async () => {
    const { freed: expired } = await resolveDueItems('expiry', run, deps, signal)
    return { expired, seconds: (clock.now() - startedMs) / 1000 }
  }
  const [expiry] = await Promise.all([expire(), resolveDueItems('work', run, deps, signal)])
  return expiry
}
