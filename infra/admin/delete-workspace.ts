import type { WorkspaceId } from '../../lib/ids.ts'
import { CommandError } from './command-error.ts'
import { confirm } from './confirm.ts'
import { deleteDocuments } from './documents-commands.ts'
import type { ExitCode, Session } from './session.ts'

interface DeleteWorkspaceOptions {
  /** Deletes its keys and documents first. */
  empty: boolean
  yes: boolean
}

/** Keys first, so that nothing new comes in; then documents; the counter last, and only when it counts nothing. */
export async function deleteWorkspace(
  workspaceId: WorkspaceId,
  { empty, yes }: DeleteWorkspaceOptions,
  session: Session,
): Promise<ExitCode> {
  const { output, signal } = session
  const stores = await session.stores()
  const [keys, documents] = [
    await all(stores.apiKeys.list({ workspaceId }, signal)),
    await all(stores.documents.list(workspaceId, signal)),
  ]
  const existing = await stores.ledgers.read(workspaceId, signal)
  if (existing === undefined && keys.length + documents.length === 0) {
    throw new CommandError('workspace_not_found', `There is no workspace ${workspaceId}.`)
  }
  const contents = `${count(keys.length, 'key')} and ${count(documents.length, 'document')}`
  if (!empty && keys.length + documents.length > 0) {
    const hint = 'delete them first, or add --empty'
    throw new CommandError('workspace_not_empty', `Workspace ${workspaceId} has ${contents}: ${hint}.`)
  }
  const what = keys.length + documents.length === 0 ? '' : ` with its ${contents}`
  await confirm(`Delete workspace ${workspaceId}${what} in ${session.place}?`, yes, session)

  for (const { tokenHash } of keys) await stores.apiKeys.remove(tokenHash, signal)
  const ids = documents.map(({ documentId }) => documentId)
  await deleteDocuments(workspaceId, ids, session)
  // In this order, because whatever opens a reservation changes the counter first.
  const version = (await stores.ledgers.read(workspaceId, signal))?.version
  const reservations = await all(stores.reservations.list(workspaceId, signal))
  // An empty document is not counted; a promotion under way may have recorded it.
  const left = await all(stores.documents.list(workspaceId, signal))
  if (reservations.length + left.length > 0 || !(await stores.workspaceRemoval.remove(workspaceId, version, signal))) {
    const why = 'something is still under way in it. Try again in a few minutes'
    throw new CommandError('workspace_busy', `Workspace ${workspaceId} was emptied but not deleted: ${why}.`)
  }
  output.done(`Workspace ${workspaceId} is deleted, with ${contents}.`, {
    workspaceId,
    outcome: 'deleted',
    keys: keys.length,
    documents: documents.length,
  })
  return 0
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
