import type { Command } from 'commander'
import type { StoredItem } from '../../../lib/audit/ports/document-maintenance.ts'
import { hasEnded, type Link } from '../../../lib/documents/links.ts'
import { describeLink } from '../../../lib/http/operations/link-operations.ts'
import type { DocumentId, WorkspaceId } from '../../../lib/ids.ts'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import { chooseExpiry, endsSoon, expiresAtOf, hasExpired } from '../../../lib/ledger/expiry.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import { CommandError, wrongUsage } from '../command-error.ts'
import { confirm, type ExitCode, type Run, type Session } from '../session.ts'
import { bytes, type Columns, counted, duration, exactBytes, table, time } from '../terminal/output.ts'
import { parseExpiresIn } from '../terminal/parse-values.ts'
import { addCommand } from '../usage.ts'
import { requireWorkspace } from './require-workspace.ts'

/** Time for one deletion, which is not interrupted once it has begun. */
const DELETION_TIMEOUT_MS = 30_000
const ABSENT = 'there is no such document (any more)'

const COLUMNS: Columns<WorkspaceDocument> = {
  DOCUMENT: ({ documentId }) => documentId,
  SIZE: ({ sizeBytes }) => bytes(sizeBytes),
  TYPE: ({ mimeType }) => mimeType,
  CREATED: ({ createdAt }) => createdAt.toISOString(),
  EXPIRES: ({ expiresAt }) => timeOrNever(expiresAt),
  'CREATED BY': ({ createdBy }) => createdBy,
  FILENAME: ({ filename }) => filename,
}

const LINK_COLUMNS: Columns<Link> = {
  LINK: ({ linkId }) => linkId,
  AS: ({ disposition }) => disposition,
  CREATED: ({ createdAt }) => createdAt.toISOString(),
  EXPIRES: ({ expiresAt }) => time(expiresAt),
  'CREATED BY': ({ createdBy }) => createdBy,
}

export function addDocumentsCommands(program: Command, run: Run): void {
  const group = program.command('documents').description('list, show, expire and delete documents of a workspace')
  const add = (usage: string, description: string) => addCommand(group, usage, description)
  add('list <workspace_id>', 'list documents, oldest first except those made with an Idempotency-Key').action(
    run(listDocuments),
  )
  add('show <workspace_id> <document_id>', 'show a document').action(run(showDocument))
  const whenExpired = 'then they are gone for callers, and soon deleted'
  add('expire <workspace_id> <document_id...>', `set when documents expire: ${whenExpired}`)
    .option('--in <duration>', 'from now, 1s to 3650d', parseExpiresIn)
    .option('--never', 'they no longer expire')
    .addHelpText('after', '\nMay be repeated. Exits with 1 if one is gone. Ctrl-C stops after the current document.')
    .action(run(expire))
  const afterwards = 'and give their bytes back to the workspace'
  add('delete <workspace_id> <document_id...>', `delete documents with their objects, ${afterwards}`)
    .addHelpText('after', '\nMay be repeated: what is already gone is fine. Ctrl-C stops after the current document.')
    .action(run(deleteDocuments))
  add('links <workspace_id> <document_id>', 'list the links to a document, without their addresses').action(
    run(listLinks),
  )
  add('unlink <workspace_id> <document_id> <link_id...>', 'take links back').action(run(unlink))
}

const timeOrNever = (at: Date | undefined) => (at ? time(at) : 'never')

/** Leaves out what concerns only the ledger and the table. */
const toJson = ({ countedFrom: _, state: __, itemId: ___, ...document }: WorkspaceDocument & { itemId?: string }) =>
  document

async function listDocuments(session: Session, workspaceId: WorkspaceId) {
  const { output, signal } = session
  const { documents, ledger } = await session.stores()
  const rows = documentsIn(documents.list(workspaceId, signal))
  const { count } = await output.list(rows, { columns: COLUMNS, toJson, noun: `documents in ${workspaceId}` })
  if (count === 0) await requireWorkspace(workspaceId, { ledger }, signal)
}

/** Without what is under way, and without tombstones. */
export async function* documentsIn(items: AsyncIterable<StoredItem>) {
  for await (const item of items) if (item.state === 'ready') yield item
}

async function requireDocument(session: Session, workspaceId: WorkspaceId, documentId: DocumentId) {
  const { documents, ledger } = await session.stores()
  const document = await documents.find({ workspaceId, documentId }, session.signal)
  if (document?.state === 'ready') return document
  await requireWorkspace(workspaceId, { ledger }, session.signal)
  const hint = `"documents list ${workspaceId}" shows those it has`
  throw new CommandError('document_not_found', `Workspace ${workspaceId} has no document ${documentId}: ${hint}.`)
}

async function showDocument(session: Session, workspaceId: WorkspaceId, documentId: DocumentId) {
  const document = await requireDocument(session, workspaceId, documentId)
  const facts = [
    ['document', documentId],
    ['workspace', workspaceId],
    ['filename', document.filename],
    ['type', document.mimeType],
    ['size', exactBytes(document.sizeBytes)],
    ['created', document.createdAt.toISOString()],
    [hasExpired(document, Date.now()) ? 'expired' : 'expires', timeOrNever(document.expiresAt)],
    ['created by', document.createdBy],
    ['container', document.containerId],
    ['object', document.objectKey],
  ]
  session.output.print(table([], facts), toJson(document))
}

async function expire(session: Session, workspaceId: WorkspaceId, ids: DocumentId[], options: { in?: number }) {
  if (Object.keys(options).length !== 1) throw wrongUsage('Give one of --in and --never.')
  const { output, signal } = session
  const { documents, leaseMs, ...stores } = await session.stores()
  const { expireAtMostSeconds } = await requireWorkspace(workspaceId, stores, signal)
  const limit = chooseExpiry(options.in, { expireAtMostSeconds })
  if (limit?.by === 'limit') output.note(`That is longer than ${workspaceId} allows: ${duration(limit.seconds)}.`)
  const expiresAt = options.in === undefined ? undefined : expiresAtOf(new Date(), options.in)
  let code: ExitCode = 0
  for (const [index, documentId] of ids.entries()) {
    signal.throwIfAborted()
    output.progress(`${index + 1} of ${ids.length}: ${documentId}`)
    const item = await documents.find({ workspaceId, documentId }, signal)
    const document = item?.state === 'ready' ? item : undefined
    const isSet = document && (await documents.setExpiry(document, expiresAt, signal))
    if (!isSet) code = 1
    const outcome = isSet ? 'set' : whyNotSet(document, leaseMs)
    const texts = {
      set: `expires ${timeOrNever(expiresAt)}`,
      absent: ABSENT,
      expired: 'has expired',
      ends_soon: `has less than ${duration(leaseMs / 1000)} left, which nobody may change`,
      changed: 'somebody else has just changed it',
    }
    output.done(`${documentId}: ${texts[outcome]}.`, { workspaceId, documentId, outcome, ...(isSet && { expiresAt }) })
  }
  return code
}

function whyNotSet(document: WorkspaceDocument | undefined, leaseMs: number) {
  if (!document) return 'absent'
  if (hasExpired(document, Date.now())) return 'expired'
  return endsSoon(document, Date.now(), leaseMs) ? 'ends_soon' : 'changed'
}

async function deleteDocuments(session: Session, workspaceId: WorkspaceId, ids: DocumentId[]): Promise<void> {
  const { output, signal } = session
  const stores = await session.stores()
  await requireWorkspace(workspaceId, stores, signal)
  await confirm(`Delete ${counted(ids.length, 'document')} of ${workspaceId} in ${session.place}?`, session)
  for (const [index, documentId] of ids.entries()) {
    signal.throwIfAborted()
    output.progress(`deleting ${index + 1} of ${ids.length}: ${documentId}`)
    const bounded = AbortSignal.timeout(DELETION_TIMEOUT_MS)
    const item = await stores.documents.find({ workspaceId, documentId }, bounded)
    const isThere = item?.state === 'ready' || item?.state === 'deleting'
    const document = isThere ? (await deleteDocument(item, {}, stores, bounded))?.document : undefined
    const name = item?.state === 'ready' ? ` (${item.filename})` : ''
    const given = document && `deleted, ${exactBytes(document.sizeBytes)} freed${name}`
    const json = { workspaceId, documentId, outcome: document ? 'deleted' : 'absent', sizeBytes: document?.sizeBytes }
    output.done(`${documentId}: ${given ?? ABSENT}.`, json)
  }
}

async function listLinks(session: Session, workspaceId: WorkspaceId, documentId: DocumentId) {
  const { links } = await session.stores()
  const all = await links.list(await requireDocument(session, workspaceId, documentId), session.signal)
  const rows = all.filter((link) => !hasEnded(link, Date.now()))
  await session.output.list(rows, { columns: LINK_COLUMNS, toJson: describeLink, noun: `links to ${documentId}` })
}

async function unlink(session: Session, workspaceId: WorkspaceId, documentId: DocumentId, ids: string[]) {
  const { output, signal, place } = session
  await confirm(`Take back ${counted(ids.length, 'link')} to ${documentId} in ${place}?`, session)
  const { links } = await session.stores()
  for (const linkId of ids) {
    const outcome = (await links.remove({ workspaceId, documentId, linkId }, signal)) ? 'removed' : 'absent'
    const texts = { removed: 'taken back', absent: 'there is no such link (any more)' }
    output.done(`${linkId}: ${texts[outcome]}.`, { linkId, outcome })
  }
}
