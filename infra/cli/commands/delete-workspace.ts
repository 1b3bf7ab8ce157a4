import { deleteWorkspace } from '../../../lib/administration/delete-workspace.ts'
import { ServiceError } from '../../../lib/errors.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { wrongUsage } from '../command-error.ts'
import type { Session } from '../session.ts'
import { confirm } from '../terminal/confirm.ts'
import { type EraseOptions, eraseWorkspaceFor } from './erase-workspace.ts'

/** Deletes a workspace without documents, as the API does. To erase it, it asks the service. */
export async function deleteWorkspaceFor(
  session: Session,
  workspaceId: WorkspaceId,
  { erase, ...options }: { erase: boolean } & EraseOptions,
): Promise<void> {
  if (erase) return eraseWorkspaceFor(session, workspaceId, options)
  if (options.cancel || options.after !== undefined) throw wrongUsage('--after and --cancel belong to --erase.')
  const stores = await session.stores()
  await confirm(`Delete workspace ${workspaceId} with its keys in ${session.place}?`, session)
  const isThere = await deleteWorkspace(workspaceId, stores, session.signal).then(
    () => true,
    (error) =>
      error instanceof ServiceError && error.reason === 'workspace_not_found' ? false : Promise.reject(error),
  )
  const text = isThere
    ? `Workspace ${workspaceId} is deleted, with its keys.`
    : `There is no workspace ${workspaceId} (any more).`
  session.output.done(text, { workspaceId, outcome: isThere ? 'deleted' : 'absent' })
}
