import { eraseDueWorkspaces } from '../../../lib/administration/erase-due-workspaces.ts'
import { createErasedObjects } from '../../../lib/aws/s3/erased-objects.ts'
import { RESOLVER } from './deployed.ts'
import { documentOf, workspaceIdOf } from './population.ts'
import { clock, dependenciesOf, type World } from './world.ts'

export interface Erasing {
  /** Until a first look has found and removed everything of all. */
  seconds: number
  /** Items and objects that are left: there must be none. */
  left: number
  /** Writes that DynamoDB turned away, of whatever process. */
  throttled: number
  /** What promotions of another workspace take meanwhile, and alone, in ms: 99 in 100. */
  elsewhereMs: { meanwhile: number; alone: number }
}

const { signal } = new AbortController()
const EVERY_MS = 100

/** Erases all workspaces of the population but the last one, in which promotions go on. */
export async function eraseAll(world: World): Promise<Erasing> {
  const { config, population, spent } = world
  const leaving = population.workspaces - 1
  const clients = world.start(RESOLVER.memoryMib)
  const stores = dependenciesOf(clients, config)
  const deps = {
    ...stores,
    apiKeys: stores.keyAdministration,
    erasedObjects: createErasedObjects({ ...config, client: clients.s3 }),
  }
  const startedMs = clock.now()
  const asking = Array.from({ length: leaving }, (_, workspace) => {
    const to = { state: 'scheduled' as const, requestedAtMs: startedMs, beginsAtMs: startedMs, dueAtMs: startedMs }
    return deps.erasures.change(workspaceIdOf(workspace), { shown: undefined, to }, signal)
  })
  await clock.runUntilDone(Promise.all(asking))
  const alone = await promoteUntil(() => clock.runUntilDone(new Promise((resolve) => setTimeout(resolve, 20_000))))
  const beganMs = clock.now()
  const erasing = eraseDueWorkspaces(deps, signal)
  const meanwhile = await promoteUntil(() => clock.runUntilDone(erasing))
  const { advanced } = await erasing
  if (advanced !== leaving) throw new Error(`${advanced} of ${leaving} erasures went on`)
  const seconds = (clock.now() - beganMs) / 1000
  const left = await clock.runUntilDone(countLeft())
  return { seconds, left, throttled: spent.throttled, elsewhereMs: { meanwhile, alone } }

  async function countLeft(): Promise<number> {
    let left = 0
    for (let workspace = 0; workspace < leaving; workspace++) {
      const workspaceId = workspaceIdOf(workspace)
      left += (await Array.fromAsync(deps.documents.list(workspaceId, signal))).length
      left += (await Array.fromAsync(deps.objects.listObjects(`documents/${workspaceId}/`, signal))).length
    }
    return left
  }

  /** Promotes in the last workspace, as the adapters do, while time passes. @returns what 99 in 100 take, in ms */
  async function promoteUntil(pass: () => Promise<unknown>): Promise<number> {
    const promoter = dependenciesOf(world.start(RESOLVER.memoryMib), config)
    const taken: number[] = []
    let [isOver, document] = [false, population.documentsEach]
    const promote = async () => {
      const each = documentOf(leaving, document++)
      const { workspaceId, documentId, attemptId, sizeBytes } = each
      const [fromMs, dueAtMs] = [clock.now(), clock.now() + config.leaseMs]
      await promoter.documents.begin({ ...each, state: 'pending', dueAtMs }, undefined, signal)
      const hold = { workspaceId, documentId, attemptId, sizeBytes, leaseEndsAtMs: dueAtMs }
      await promoter.ledger.hold(hold, signal, 6000)
      await promoter.ledger.capture(hold, signal)
      taken.push(clock.now() - fromMs)
    }
    // Its first calls load modules, for which the virtual clock does not wait.
    await clock.runUntilDone(promote())
    taken.length = 0
    const promoteNext = () => {
      if (isOver) return
      setTimeout(promoteNext, EVERY_MS)
      void promote()
    }
    promoteNext()
    await pass()
    isOver = true
    return taken.toSorted((one, other) => one - other)[Math.floor(taken.length * 0.99)] ?? Number.NaN
  }
}
