import { type ContainerId, filePathOf, formatFileId, type WorkspaceId } from '../../../lib/ids.ts'
import { readDemoFile } from '../../local/stores/demo-file.ts'
import { wrongUsage } from '../command-error.ts'
import { requireWorkspace } from '../commands/require-workspace.ts'
import type { Session } from '../session.ts'
import { confirm } from '../terminal/confirm.ts'
import type { Columns, ListOptions } from '../terminal/list-options.ts'
import { bytesCell, counted, exactBytes } from '../terminal/output.ts'

type ContainerFile = { path: string; fileId: string; sizeBytes: number; modifiedAt: Date }

export const FILE_COLUMNS: Columns<ContainerFile> = {
  PATH: ({ path }) => path,
  SIZE: ({ sizeBytes }) => bytesCell(sizeBytes),
  MODIFIED: ({ modifiedAt }) => modifiedAt.toISOString(),
  'FILE ID': ({ fileId }) => fileId,
}

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

/** Lists what can be promoted: directories and other objects that no file id can name are left out. */
export async function listFiles(session: Session, container: Container, options: ListOptions<ContainerFile>) {
  const { output, signal } = session
  async function* rows() {
    for await (const { path, ...file } of objectsBelow(container, '', signal))
      if (filePathOf(path) !== undefined) yield { path, fileId: formatFileId(path), ...file }
  }
  const toJson = (file: object) => ({ ...container.ids, ...file })
  const noun = `files in ${container.ids.containerId}`
  await output.list(rows(), { ...options, columns: FILE_COLUMNS, toJson, noun })
}

async function* objectsBelow({ stores, prefix }: Container, beginning: string, signal: AbortSignal) {
  const query = { keyPrefix: prefix + beginning, afterKey: undefined, firstPage: 1000 }
  for await (const { files } of stores.containerFiles.listContainerFiles(query, signal))
    for (const { objectKey, ...file } of files) yield { path: objectKey.slice(prefix.length), ...file }
}

/** @param paths of files, and of directories with a slash at their end; none: everything */
export async function removeFiles(session: Session, container: Container, paths: string[]) {
  const { output, signal, place } = session
  const { ids, bucket: Bucket, prefix, stores } = container
  // It comes from a variable that is not set, and would mean everything.
  if (paths.includes('')) throw wrongUsage('a path is empty')
  const found = new Map<string, number>()
  for (const path of paths.length > 0 ? paths : ['']) {
    const below = await Array.fromAsync(objectsBelow(container, path, signal))
    const meant = below.filter((each) => /(^|\/)$/.test(path) || each.path === path)
    for (const { path, sizeBytes } of meant) found.set(path, sizeBytes)
    if (meant.length > 0) continue
    output.done(`${path || ids.containerId}: there is nothing (any more).`, { ...ids, path, outcome: 'absent' })
  }
  if (found.size === 0) return
  await confirm(`Remove ${counted(found.size, 'file')} of ${ids.containerId} in ${place}?`, session)
  for (const [path, sizeBytes] of found) {
    const { DeleteObjectCommand } = await import('@aws-sdk/client-s3')
    await stores.s3.send(new DeleteObjectCommand({ Bucket, Key: prefix + path }), { abortSignal: signal })
    output.done(`${path}: removed, ${exactBytes(sizeBytes)}.`, { ...ids, path, outcome: 'removed', sizeBytes })
  }
}
