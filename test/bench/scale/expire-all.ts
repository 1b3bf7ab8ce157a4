import type { UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import { percentile } from '../statistics.ts'
import { expiresAtOf, namesOf, workspaceIdOf } from './population.ts'
import { type Lateness, type Load, sustain } from './sustained.ts'
import { clock, type World } from './world.ts'

export interface Expiry {
  expired: number
  /** How many have kept their bytes: there must be none. */
  left: number
  /** From a document's expiry until its bytes were given back, in seconds. */
  p50: number
  most: number
  /** How many a run works off in a second. */
  perSecond: number
  /** Writes that DynamoDB turned away, of whatever process. */
  throttled: number
  /** Promotions that were killed meanwhile have left them. */
  leftovers: Lateness
}

/** Runs that find fewer tell nothing of their rate. */
const LEAST = 100

/** Lets all documents expire, while promotions go on and some of their processes are killed. */
export async function expireAll(world: World, load: Load): Promise<Expiry> {
  const { config, population } = world
  const { workspaces, documentsEach, expireWithinMs = 0 } = population
  const open = new Map<string, number>()
  for (let workspace = 0; workspace < workspaces; workspace++) {
    for (let document = 0; document < documentsEach; document++) {
      const key = `${workspaceIdOf(workspace)}/${namesOf(workspace, document).documentId}`
      open.set(key, expiresAtOf(workspace, document, clock.now(), expireWithinMs).getTime())
    }
  }
  const lateSeconds: number[] = []
  let throttled = 0
  world.watchers.push(({ table, input, outcome }) => {
    if (outcome === 'throttled') throttled++
    if (outcome !== 'done' || table !== config.documentsTable) return
    const { Key, UpdateExpression } = input as Pick<UpdateItemCommandInput, 'Key' | 'UpdateExpression'>
    // The last step of a deletion: its bytes have been given back.
    if (!UpdateExpression?.startsWith('SET item_state = :gone')) return
    const key = `${Key?.workspace_id?.S}/${Key?.document_id?.S}`
    const expiredAtMs = open.get(key)
    if (expiredAtMs === undefined) return
    open.delete(key)
    lateSeconds.push((clock.now() - expiredAtMs) / 1000)
  })
  let [done, seconds] = [0, 0]
  const leftovers = await sustain(world, load, (run) => {
    if (run.expired < LEAST) return
    done += run.expired
    seconds += run.seconds
  })
  return {
    expired: lateSeconds.length,
    left: open.size,
    p50: percentile(lateSeconds, 0.5),
    most: lateSeconds.reduce((most, each) => Math.max(most, each), 0),
    perSecond: done / seconds,
    throttled,
    leftovers,
  }
}
