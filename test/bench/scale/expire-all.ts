import type { UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import { namesOf, workspaceIdOf } from './population.ts'
import { type Lateness, type Load, sustain } from './sustained.ts'
import type { World } from './world.ts'

export interface Expiry {
  /** How many have kept their bytes: there must be none. */
  left: number
  /** How many a run works off in a second. */
  perSecond: number
  /** Writes that DynamoDB turned away, of whatever process. */
  throttled: number
  /** Promotions that were killed meanwhile have left them. */
  leftovers: Lateness
}

/** Runs that find fewer tell nothing of their rate. */
const LEAST = 100

/** @returns the documents of the population that have not been deleted yet */
function watchDocuments({ config, population, watchers }: World): Set<string> {
  const open = new Set<string>()
  for (let workspace = 0; workspace < population.workspaces; workspace++) {
    for (let document = 0; document < population.documentsEach; document++) {
      open.add(`${workspaceIdOf(workspace)}/${namesOf(workspace, document).documentId}`)
    }
  }
  watchers.push(({ table, input, outcome }) => {
    if (outcome !== 'done' || table !== config.documentsTable) return
    const { Key, UpdateExpression } = input as Pick<UpdateItemCommandInput, 'Key' | 'UpdateExpression'>
    // The last step of a deletion: its bytes are free.
    if (UpdateExpression?.startsWith('SET item_state = :gone'))
      open.delete(`${Key?.workspace_id?.S}/${Key?.document_id?.S}`)
  })
  return open
}

/** Lets all documents expire, while promotions go on and some of their processes are killed. */
export async function expireAll(world: World, load: Load): Promise<Expiry> {
  const open = watchDocuments(world)
  let [done, seconds] = [0, 0]
  const leftovers = await sustain(world, load, (run) => {
    if (run.expired < LEAST) return
    done += run.expired
    seconds += run.seconds
  })
  return { left: open.size, perSecond: done / seconds, throttled: world.spent.throttled, leftovers }
}
