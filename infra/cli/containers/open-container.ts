import type { ContainerId, WorkspaceId } from '../../../lib/ids.ts'
import { readDemoFile } from '../../local/stores/demo-file.ts'
import { wrongUsage } from '../command-error.ts'
import { requireWorkspace } from '../commands/require-workspace.ts'
import type { Session } from '../session.ts'

export type Container = Awaited<ReturnType<typeof openContainer>>

/** The container that a command is about. Its workspace must exist; whether a container does, S3 does not know. */
export async function openContainer(session: Session, containerId: ContainerId, workspace: WorkspaceId | undefined) {
  const { local, directory } = session.target
  if (workspace === undefined && !local) throw wrongUsage("required option '--workspace <id>' not specified")
  const stores = await session.stores()
  const demo = local ? await readDemoFile(directory) : undefined
  const workspaceId = workspace ?? (demo?.workspace_id as WorkspaceId)
  await requireWorkspace(workspaceId, stores, session.signal)
  const ids = { workspaceId, containerId }
  return { ids, prefix: stores.objectKeys.containerPrefix(ids), bucket: stores.config.sandboxBucket, stores, demo }
}
