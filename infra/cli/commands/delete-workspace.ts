import { setTimeout as sleep } from 'node:timers/promises'
import { removeKeysLeft } from '../../../lib/administration/delete-workspace.ts'
import type { StoredItem } from '../../../lib/audit/ports/document-maintenance.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { LONGEST_LIFE_MS } from '../../../lib/ledger/begin-document.ts'
import { cleanLedger } from '../../../lib/ledger/clean-ledger.ts'
import { resolveDueItem } from '../../../lib/ledger/resolve-due-item.ts'
import { endStray } from '../../../lib/ledger/undo.ts'
import { CommandError } from '../command-error.ts'
import type { Stores } from '../connect.ts'
import type { Session } from '../session.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted } from '../terminal/output.ts'
import { deleteDocuments } from './documents-commands.ts'
import { eraseStored, sweepBuckets } from './erase-stored.ts'

/**
 * Deletes the keys first, so that nothing new comes in; then documents, and what dead processes left; then the ledger,
 * once it counts nothing; last, when it erases, whatever the buckets have of the workspace.
 */
export async function deleteWorkspace(
  session: Session,
  workspaceId: WorkspaceId,
  { empty, erase }: { empty: boolean; erase: boolean },
): Promise<void> {
  const { output, signal } = session
  const stores = await session.stores()
  const keys = await Array.fromAsync(stores.apiKeys.list({ workspaceId }, signal))
  const items = await Array.fromAsync(stores.documents.list(workspaceId, signal))
  const documents = items.filter(isDocument)
  // A user who may not list versions is told so before anything is gone.
  const stored = erase ? await sweepBuckets(undefined, workspaceId, stores, session) : undefined
  const isEmpty = keys.length + documents.length === 0
  // A workspace that was erased before still has tombstones.
  const isKnown = !isEmpty || (stored !== undefined && items.length + stored.all > 0)
  if (!isKnown && (await stores.ledger.read(workspaceId, signal)) === undefined) {
    const text = `There is no workspace ${workspaceId} (any more).`
    if (!erase) return output.done(text, { workspaceId, outcome: 'absent', keys: 0, documents: 0 })
    // Requests that began before may still leave something.
    output.note(text)
  }
  const contents = `${counted(keys.length, 'key')} and ${counted(documents.length, 'document')}`
  // As the API: without documents, its keys reach nothing, and go with it.
  if (!empty && !erase && documents.length > 0) {
    const message = `Workspace ${workspaceId} has ${counted(documents.length, 'document')}: delete them first, or add --empty.`
    throw new CommandError('workspace_not_empty', message)
  }
  const what = isEmpty ? '' : ` with its ${contents}`
  const andStored = stored ? `, and ${stored.texts.join(', ')},` : ''
  await confirm(`Delete workspace ${workspaceId}${what}${andStored} in ${session.place}?`, session)

  await stores.apiKeys.removeAll(workspaceId, stores.now(), signal)
  if (erase) {
    // Also without keys: whoever repeats the command may have interrupted it here.
    output.progress(`waiting ${stores.leaseMs / 1000} s for what earlier requests have sent`)
    await sleep(stores.leaseMs, undefined, { signal })
  }
  const sweepUntil = new Date(stores.now())
  const ids = documents.map(({ documentId }) => documentId)
  await deleteDocuments(session, workspaceId, ids)
  const left = await removeEmptied(workspaceId, stores, signal)
  await removeKeysLeft(workspaceId, stores, signal)
  const deleted = { workspaceId, keys: keys.length, documents: documents.length }
  if (erase) return eraseStored({ ...deleted, left, sweepUntil }, stores, session)
  output.done(`Workspace ${workspaceId} is deleted, with ${contents}.`, { ...deleted, outcome: 'deleted' })
}

/**
 * Deletes the ledger of a workspace without keys and documents, once what dead processes left of them is gone.
 * @returns the tombstones and strays that are left of it, which DynamoDB and the resolver remove
 */
export async function removeEmptied(
  workspaceId: WorkspaceId,
  stores: Stores,
  signal: AbortSignal,
): Promise<StoredItem[]> {
  for await (const item of stores.documents.list(workspaceId, signal)) await endLeftover(item, stores, signal)
  const ledger = await stores.ledger.read(workspaceId, signal)
  if (ledger) await cleanLedger(ledger, stores, signal)
  // Read in this order: whoever makes a document changes the ledger first.
  const version = (await stores.ledger.read(workspaceId, signal))?.version
  const left = await Array.fromAsync(stores.documents.list(workspaceId, signal))
  // An empty document is not counted; a promotion under way may have recorded it.
  const isBusy = left.some((item) => isDocument(item) || item.state === 'pending')
  if (isBusy || !(await stores.workspaces.remove(workspaceId, version, signal))) {
    const why = 'something is still under way in it. Try again in a few minutes'
    throw new CommandError('workspace_busy', `Workspace ${workspaceId} was emptied but not deleted: ${why}.`)
  }
  if (version !== undefined) await stores.rateLimiter.setLimits(workspaceId, { version: version + 1 }, signal)
  return left
}

/** As the resolver does, but as soon as the process is certainly dead. A stray stays, while something may arrive. */
async function endLeftover(item: StoredItem, stores: Stores, signal: AbortSignal): Promise<void> {
  const nowMs = stores.now()
  if (item.state === 'stray') await endStray(item, { isKept: item.dueAtMs > nowMs }, stores, signal)
  else if (item.state !== 'ready') await resolveDueItem(item, nowMs + stores.leaseMs - LONGEST_LIFE_MS, stores, signal)
}

const isDocument = ({ state }: StoredItem) => state === 'ready' || state === 'deleting'
