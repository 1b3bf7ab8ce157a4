import { deleteWorkspace } from '../../../lib/administration/delete-workspace.ts'
import type { StoredItem } from '../../../lib/audit/ports/document-maintenance.ts'
import { ServiceError } from '../../../lib/errors.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { LONGEST_LIFE_MS } from '../../../lib/ledger/begin-document.ts'
import { cleanLedger } from '../../../lib/ledger/clean-ledger.ts'
import { resolveDueItem } from '../../../lib/ledger/resolve-due-item.ts'
import { endStray } from '../../../lib/ledger/undo.ts'
import { wrongUsage } from '../command-error.ts'
import type { Stores } from '../connect.ts'
import type { Session } from '../session.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted } from '../terminal/output.ts'
import { deleteDocuments } from './documents-commands.ts'
import { type EraseOptions, eraseWorkspaceFor } from './erase-workspace.ts'

/**
 * Deletes an empty workspace, as the API does. To empty it, it deletes the keys, so that nothing new comes in; then
 * documents, and what dead processes left. To erase it, it asks the service.
 */
export async function deleteWorkspaceFor(
  session: Session,
  workspaceId: WorkspaceId,
  { empty, erase, ...options }: { empty: boolean; erase: boolean } & EraseOptions,
): Promise<void> {
  if (erase) return eraseWorkspaceFor(session, workspaceId, options)
  if (options.cancel || options.after !== undefined) throw wrongUsage('--after and --cancel belong to --erase.')
  const { output, signal } = session
  const stores = await session.stores()
  const keys = await Array.fromAsync(stores.apiKeys.list({ workspaceId }, signal))
  const items = await Array.fromAsync(stores.documents.list(workspaceId, signal))
  const documents = items.filter(isDocument)
  // With documents and without the option, it is refused below, by the rule that the API has.
  const contents = `${counted(keys.length, 'key')} and ${counted(documents.length, 'document')}`
  await confirm(`Delete workspace ${workspaceId} with its ${contents} in ${session.place}?`, session)
  if (empty) {
    await stores.apiKeys.removeAll(workspaceId, stores.now(), signal)
    const ids = documents.map(({ documentId }) => documentId)
    await deleteDocuments(session, workspaceId, ids)
    await endLeftovers(workspaceId, stores, signal)
  }
  const isThere = await deleteWorkspace(workspaceId, stores, signal).then(
    () => true,
    (error) =>
      error instanceof ServiceError && error.reason === 'workspace_not_found' ? false : Promise.reject(error),
  )
  const text = isThere
    ? `Workspace ${workspaceId} is deleted, with ${contents}.`
    : `There is no workspace ${workspaceId} (any more).`
  const deleted = { workspaceId, keys: keys.length, documents: documents.length }
  output.done(text, { ...deleted, outcome: isThere ? 'deleted' : 'absent' })
}

/** Ends what dead processes left of a workspace without keys and documents. @returns its ledger's version */
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
  return version
}

/** As the resolver does, but as soon as the process is certainly dead. A stray stays, while something may arrive. */
async function endLeftover(item: StoredItem, stores: Stores, signal: AbortSignal): Promise<void> {
  const nowMs = stores.now()
  if (item.state === 'stray') await endStray(item, { isKept: item.dueAtMs > nowMs }, stores, signal)
  else if (item.state !== 'ready') await resolveDueItem(item, nowMs + stores.leaseMs - LONGEST_LIFE_MS, stores, signal)
}

const isDocument = ({ state }: StoredItem) => state === 'ready' || state === 'deleting'
