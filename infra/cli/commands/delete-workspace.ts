import { setTimeout as sleep } from 'node:timers/promises'
import { deleteWorkspace } from '../../../lib/administration/delete-workspace.ts'
import type { StoredItem } from '../../../lib/audit/ports/document-maintenance.ts'
import { ServiceError } from '../../../lib/errors.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { LONGEST_LIFE_MS } from '../../../lib/ledger/begin-document.ts'
import { cleanLedger } from '../../../lib/ledger/clean-ledger.ts'
import { resolveDueItem } from '../../../lib/ledger/resolve-due-item.ts'
import { endStray } from '../../../lib/ledger/undo.ts'
import type { Stores } from '../connect.ts'
import type { Session } from '../session.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted } from '../terminal/output.ts'
import { deleteDocuments } from './documents-commands.ts'
import { eraseStored, sweepBuckets } from './erase-stored.ts'

/**
 * Deletes an empty workspace, as the API does. To empty it, it deletes the keys, so that nothing new comes in; then
 * documents, and what dead processes left; after that, when it erases, whatever the buckets have of the workspace.
 */
export async function deleteWorkspaceFor(
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
  // With documents and neither option, it is refused below, by the rule that the API has.
  const contents = `${counted(keys.length, 'key')} and ${counted(documents.length, 'document')}`
  const andStored = stored ? `, and ${stored.texts.join(', ')},` : ''
  await confirm(`Delete workspace ${workspaceId} with its ${contents}${andStored} in ${session.place}?`, session)

  let [left, sweepUntil]: [StoredItem[], Date] = [[], new Date()]
  if (empty || erase) {
    await stores.apiKeys.removeAll(workspaceId, stores.now(), signal)
    if (erase) {
      // Also without keys: whoever repeats the command may have interrupted it here.
      output.progress(`waiting ${stores.leaseMs / 1000} s for what earlier requests have sent`)
      await sleep(stores.leaseMs, undefined, { signal })
    }
    sweepUntil = new Date(stores.now())
    const ids = documents.map(({ documentId }) => documentId)
    await deleteDocuments(session, workspaceId, ids)
    left = (await endLeftovers(workspaceId, stores, signal)).left
  }
  const isThere = await deleteWorkspace(workspaceId, stores, signal).then(
    () => true,
    (error) =>
      error instanceof ServiceError && error.reason === 'workspace_not_found' ? false : Promise.reject(error),
  )
  const deleted = { workspaceId, keys: keys.length, documents: documents.length }
  if (erase) return eraseStored({ ...deleted, left, sweepUntil }, stores, session)
  const text = isThere
    ? `Workspace ${workspaceId} is deleted, with ${contents}.`
    : `There is no workspace ${workspaceId} (any more).`
  output.done(text, { ...deleted, outcome: isThere ? 'deleted' : 'absent' })
}

/**
 * Ends what dead processes left of a workspace without keys and documents.
 * @returns its ledger's version, and the tombstones and strays that are left, which DynamoDB and the resolver remove
 */
export async function endLeftovers(workspaceId: WorkspaceId, stores: Stores, signal: AbortSignal) {
  for await (const item of stores.documents.list(workspaceId, signal)) await endLeftover(item, stores, signal)
  const ledger = await stores.ledger.read(workspaceId, signal)
  if (ledger) await cleanLedger(ledger, stores, signal)
  // Read in this order: whoever makes a document changes the ledger first.
  const version = (await stores.ledger.read(workspaceId, signal))?.version
  const left = await Array.fromAsync(stores.documents.list(workspaceId, signal))
  // A promotion under way may have recorded a document since.
  if (left.some((item) => isDocument(item) || item.state === 'pending')) {
    const detail = 'It was emptied but not deleted: something is still under way in it. Try again in a few minutes.'
    throw new ServiceError('workspace_busy', { detail })
  }
  return { version, left }
}

/** As the resolver does, but as soon as the process is certainly dead. A stray stays, while something may arrive. */
async function endLeftover(item: StoredItem, stores: Stores, signal: AbortSignal): Promise<void> {
  const nowMs = stores.now()
  if (item.state === 'stray') await endStray(item, { isKept: item.dueAtMs > nowMs }, stores, signal)
  else if (item.state !== 'ready') await resolveDueItem(item, nowMs + stores.leaseMs - LONGEST_LIFE_MS, stores, signal)
}

const isDocument = ({ state }: StoredItem) => state === 'ready' || state === 'deleting'
