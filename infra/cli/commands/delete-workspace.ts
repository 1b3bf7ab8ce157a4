import type { WorkspaceId } from '../../../lib/ids.ts'
import { CommandError } from '../command-error.ts'
import type { Session } from '../session.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted } from '../terminal/output.ts'
import { deleteDocuments } from './documents-commands.ts'
import { requireWorkspace } from './require-workspace.ts'

/** Deletes the keys first, so that nothing new comes in; then documents; last the counter, once it counts nothing. */
export async function deleteWorkspace(
  session: Session,
  workspaceId: WorkspaceId,
  { empty, yes }: { empty: boolean; yes: boolean },
): Promise<void> {
  const { output, signal } = session
  const stores = await session.stores()
  const keys = await Array.fromAsync(stores.apiKeys.list({ workspaceId }, signal))
  const documents = await Array.fromAsync(stores.documents.list(workspaceId, signal))
  const isEmpty = keys.length + documents.length === 0
  if (isEmpty) await requireWorkspace(workspaceId, stores.workspaces, signal)
  const contents = `${counted(keys.length, 'key')} and ${counted(documents.length, 'document')}`
  if (!empty && !isEmpty) {
    const hint = 'delete them first, or add --empty'
    throw new CommandError('workspace_not_empty', `Workspace ${workspaceId} has ${contents}: ${hint}.`)
  }
  const what = isEmpty ? '' : ` with its ${contents}`
  await confirm(`Delete workspace ${workspaceId}${what} in ${session.place}?`, yes, session)

  for (const { tokenHash } of keys) await stores.apiKeys.remove(tokenHash, signal)
  await deleteDocuments(
    session,
    workspaceId,
    documents.map(({ documentId }) => documentId),
  )
  // They are read in this order, because whatever opens a reservation changes the counter first.
  const version = (await stores.workspaces.read(workspaceId, signal))?.version
  const reservations = await Array.fromAsync(stores.reservations.list(workspaceId, signal))
  // An empty document is not counted; a promotion under way may have recorded it.
  const left = await Array.fromAsync(stores.documents.list(workspaceId, signal))
  if (reservations.length + left.length > 0 || !(await stores.workspaceRemoval.remove(workspaceId, version, signal))) {
    const why = 'something is still under way in it. Try again in a few minutes'
    throw new CommandError('workspace_busy', `Workspace ${workspaceId} was emptied but not deleted: ${why}.`)
  }
  output.done(`Workspace ${workspaceId} is deleted, with ${contents}.`, {
    ...{ workspaceId, outcome: 'deleted', keys: keys.length, documents: documents.length },
  })
}
