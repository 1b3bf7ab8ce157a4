import { DUE_SHARDS } from '../../../lib/aws/dynamodb/document-codec.ts'
import { ServiceError } from '../../../lib/errors.ts'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import { RESOLVER } from './deployed.ts'
import { watchDocuments } from './expire-all.ts'
import { documentOf, workspaceIdOf } from './population.ts'
import { groupsOf, runResolver } from './runs.ts'
import { clock, dependenciesOf, type World } from './world.ts'

export interface TenantExpiry {
  left: number
  /** From the first end until the bytes of all are free. */
  seconds: number
  deleted: number
  /** Deletions of the caller that were refused: there must be none. */
  refused: number
  slowestSeconds: number
}

const SECOND_MS = 1000
const MINUTE_MS = 60_000
const LONGEST_SECONDS = 900

/** Lets all documents of one workspace expire, while a caller deletes another one of it each second. */
export async function expireTenant(world: World): Promise<TenantExpiry> {
  const { config, population } = world
  const caller = dependenciesOf(world.start(RESOLVER.memoryMib), config)
  const { signal } = new AbortController()
  const beganMs = clock.now()
  const open = watchDocuments(world)
  const isOver = () => open.size === 0 || clock.now() - beganMs > LONGEST_SECONDS * SECOND_MS
  const everyMinute = (shards: readonly number[]) => {
    void runResolver(world, shards)
    setTimeout(() => isOver() || everyMinute(shards), MINUTE_MS)
  }
  for (const [group, shards] of groupsOf(DUE_SHARDS).entries())
    setTimeout(() => everyMinute(shards), (group * MINUTE_MS) / RESOLVER.groups)
  const outcomes: Promise<{ isRefused: boolean; ms: number }>[] = []
  for (let document = population.documentsEach; !isOver(); document++) {
    outcomes.push(deleteOne(documentOf(0, document)))
    await clock.runUntil(clock.now() + SECOND_MS)
  }
  const seconds = (clock.now() - beganMs) / 1000
  const done = Promise.all(outcomes)
  await clock.runUntil(clock.now() + MINUTE_MS)
  const all = await done
  return {
    left: open.size,
    seconds,
    deleted: all.length,
    refused: all.filter(({ isRefused }) => isRefused).length,
    slowestSeconds: Math.max(...all.map(({ ms }) => ms)) / 1000,
  }

  /** Promotes a document as the adapters do, and deletes it. */
  async function deleteOne(document: WorkspaceDocument) {
    const { workspaceId, documentId, attemptId, sizeBytes } = document
    const dueAtMs = clock.now() + config.leaseMs
    await caller.documents.begin({ ...document, state: 'pending', dueAtMs }, undefined, signal)
    const hold = { workspaceId, documentId, attemptId, sizeBytes, leaseEndsAtMs: dueAtMs }
    const held = await caller.ledger.hold(hold, signal, 6000)
    if (held.outcome !== 'held') throw new Error(`no hold in ${workspaceIdOf(0)}: ${held.outcome}`)
    await caller.documents.record({ ...document, countedFrom: held.ledger.version }, signal)
    await caller.ledger.capture(hold, signal)
    const fromMs = clock.now()
    const isRefused = await deleteDocument(document, {}, caller, signal).then(
      () => false,
      (error) => {
        if (error instanceof ServiceError && error.reason === 'too_many_deletions') return true
        throw error
      },
    )
    return { isRefused, ms: clock.now() - fromMs }
  }
}
