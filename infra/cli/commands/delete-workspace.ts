import { setTimeout as sleep } from 'node:timers/promises'
import type { AuditedItem } from '../../../lib/audit/ports/document-maintenance.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { LONGEST_LIFE_MS } from '../../../lib/promotion/claim-document.ts'
import { CommandError } from '../command-error.ts'
import type { Stores } from '../connect.ts'
import type { Session } from '../session.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted } from '../terminal/output.ts'
import { deleteDocuments } from './documents-commands.ts'
import { eraseStored, sweepBuckets } from './erase-stored.ts'

/**
 * Deletes the keys first, so that nothing new comes in; then documents, and what killed deletions left of others; then
 * the counter, once it counts nothing; last, when it erases, whatever the buckets have of the workspace.
 */
export async function deleteWorkspace(
  session: Session,
  workspaceId: WorkspaceId,
  { empty, erase, yes }: { empty: boolean; erase: boolean; yes: boolean },
): Promise<void> {
  const { output, signal } = session
  const stores = await session.stores()
  const keys = await Array.fromAsync(stores.apiKeys.list({ workspaceId }, signal))
  const items = await Array.fromAsync(stores.documents.listItems(workspaceId, signal))
  const documents = items.filter(isThere)
  // Whoever may not list versions is told so before anything is gone.
  const stored = erase ? await sweepBuckets(false, workspaceId, stores, session) : undefined
  const isEmpty = keys.length + documents.length === 0
  // Of a workspace that was erased before, tombstones are left.
  const isKnown = !isEmpty || (stored !== undefined && items.length + stored.all > 0)
  if (!isKnown && (await stores.workspaces.read(workspaceId, signal)) === undefined) {
    const text = `There is no workspace ${workspaceId} (any more).`
    if (!erase) return output.done(text, { workspaceId, outcome: 'absent', keys: 0, documents: 0 })
    // Requests that began before may still leave something.
    output.note(text)
  }
  const contents = `${counted(keys.length, 'key')} and ${counted(documents.length, 'document')}`
  if (!empty && !erase && !isEmpty) {
    const hint = 'delete them first, or add --empty'
    throw new CommandError('workspace_not_empty', `Workspace ${workspaceId} has ${contents}: ${hint}.`)
  }
  const what = isEmpty ? '' : ` with its ${contents}`
  const andStored = stored ? `, and ${stored.texts.join(', ')},` : ''
  await confirm(`Delete workspace ${workspaceId}${what}${andStored} in ${session.place}?`, yes, session)

  for (const { tokenHash } of keys) await stores.apiKeys.remove(tokenHash, signal)
  if (erase) {
    // Also without keys: whoever repeats the command may have interrupted it here.
    output.progress(`waiting ${LONGEST_LIFE_MS / 1000} s for requests that began before`)
    await sleep(LONGEST_LIFE_MS, undefined, { signal })
  }
  await deleteDocuments(
    session,
    workspaceId,
    documents.map(({ documentId }) => documentId),
  )
  const tombstones = await removeEmptied(workspaceId, stores, signal)
  const deleted = { workspaceId, keys: keys.length, documents: documents.length }
  if (erase) return eraseStored({ ...deleted, tombstones }, stores, session)
  output.done(`Workspace ${workspaceId} is deleted, with ${contents}.`, { ...deleted, outcome: 'deleted' })
}

/** Deletes the counter of a workspace without keys and documents. @returns how many tombstones are left of it */
export async function removeEmptied(workspaceId: WorkspaceId, stores: Stores, signal: AbortSignal): Promise<number> {
  // They are read in this order, because whatever opens a reservation changes the counter first.
  const version = (await stores.workspaces.read(workspaceId, signal))?.version
  const reservations = await Array.fromAsync(stores.reservations.list(workspaceId, signal))
  const left = await Array.fromAsync(stores.documents.listItems(workspaceId, signal))
  // An empty document is not counted; a promotion under way may have recorded it.
  const isBusy = reservations.length > 0 || left.some(isThere)
  if (isBusy || !(await stores.workspaceRemoval.remove(workspaceId, version, signal))) {
    const why = 'something is still under way in it. Try again in a few minutes'
    throw new CommandError('workspace_busy', `Workspace ${workspaceId} was emptied but not deleted: ${why}.`)
  }
  return left.length
}

const isThere = ({ document, isUnfinished }: AuditedItem) => document !== undefined || isUnfinished === true
