import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import { type ContainerId, filePathOf, formatFileId, type WorkspaceId } from '../../../lib/ids.ts'
import { readDemoFile } from '../../local/stores/demo-file.ts'
import { wrongUsage } from '../command-error.ts'
import { requireWorkspace } from '../commands/require-workspace.ts'
import type { Session } from '../session.ts'
import { confirm } from '../terminal/confirm.ts'
import type { Columns, ListOptions } from '../terminal/list-options.ts'
import { bytesCell, counted, exactBytes } from '../terminal/output.ts'

interface ListedFile {
  path: string
  fileId: string
  sizeBytes: number
  modifiedAt: Date
}

export const FILE_COLUMNS: Columns<ListedFile> = {
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
  await requireWorkspace(workspaceId, stores.workspaces, session.signal)
  const ids = { workspaceId, containerId }
  return { ids, prefix: stores.objectKeys.containerPrefix(ids), bucket: stores.config.sandboxBucket, stores, demo }
}

/** Lists what can be promoted: directories and other objects that no file id can name are left out. */
export async function listFiles(
  session: Session,
  containerId: ContainerId,
  options: ListOptions & { workspace?: WorkspaceId },
): Promise<void> {
  const container = await openContainer(session, containerId, options.workspace)
  async function* rows(): AsyncGenerator<ListedFile> {
    for await (const { objectKey, ...file } of filesBelow(container, '', session.signal)) {
      const path = filePathOf(objectKey.slice(container.prefix.length))
      if (path !== undefined) yield { path, fileId: formatFileId(path), ...file }
    }
  }
  const toJson = (file: ListedFile) => ({ ...container.ids, ...file })
  await session.output.list(rows(), { ...options, columns: FILE_COLUMNS, toJson, noun: `files in ${containerId}` })
}

/** @param path of one file, or of a directory, with a slash at its end; empty: everything */
async function* filesBelow({ stores, prefix }: Container, path: string, signal: AbortSignal) {
  const isDirectory = path === '' || path.endsWith('/')
  const query = { keyPrefix: prefix + path, afterKey: undefined, firstPage: isDirectory ? 1000 : 1 }
  for await (const { files } of stores.containerFiles.listContainerFiles(query, signal)) {
    if (!isDirectory) return yield* files.filter(({ objectKey }) => objectKey === query.keyPrefix)
    yield* files
  }
}

export async function removeFiles(
  session: Session,
  containerId: ContainerId,
  paths: string[],
  { workspace, yes }: { workspace?: WorkspaceId; yes: boolean },
): Promise<void> {
  const { output, signal } = session
  const container = await openContainer(session, containerId, workspace)
  const { ids, bucket: Bucket, prefix, stores } = container
  const found = new Map<string, number>()
  for (const path of paths.length > 0 ? paths : ['']) {
    const files = await Array.fromAsync(filesBelow(container, path, signal))
    for (const { objectKey, sizeBytes } of files) found.set(objectKey, sizeBytes)
    if (files.length > 0) continue
    output.done(`${path || containerId}: there is nothing (any more).`, { ...ids, path, outcome: 'absent' })
  }
  if (found.size === 0) return
  await confirm(`Remove ${counted(found.size, 'file')} of ${containerId} in ${session.place}?`, yes, session)
  for (const [Key, sizeBytes] of found) {
    await stores.s3.send(new DeleteObjectCommand({ Bucket, Key }), { abortSignal: signal })
    const path = Key.slice(prefix.length)
    output.done(`${path}: removed, ${exactBytes(sizeBytes)}.`, { ...ids, path, outcome: 'removed', sizeBytes })
  }
}
