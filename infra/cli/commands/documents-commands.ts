import type { Command } from 'commander'
import type { DocumentId, WorkspaceId } from '../../../lib/ids.ts'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import type { ExitCode, Run, Session } from '../session.ts'
import { confirm } from '../terminal/confirm.ts'
import { addListOptions, type Columns, type ListOptions } from '../terminal/list-options.ts'
import { bytesCell, counted, exactBytes, table } from '../terminal/output.ts'
import { parseDocumentId, parseDocumentIds, parseWorkspaceId } from '../terminal/parse-values.ts'
import { findDocument, getDocument } from './get-document.ts'
import { requireWorkspace } from './require-workspace.ts'
import { verifyDocuments } from './verify-documents.ts'

/** Time for one deletion, which is not interrupted once it has begun. */
const DELETION_TIMEOUT_MS = 30_000

const COLUMNS: Columns<WorkspaceDocument> = {
  DOCUMENT: ({ documentId }) => documentId,
  SIZE: ({ sizeBytes }) => bytesCell(sizeBytes),
  TYPE: ({ mimeType }) => mimeType,
  CREATED: ({ createdAt }) => createdAt.toISOString(),
  'CREATED BY': ({ createdBy }) => createdBy,
  FILENAME: ({ filename }) => filename,
}

export function addDocumentsCommands(program: Command, run: Run): void {
  const group = program.command('documents').description('list, show, get and delete documents of a workspace')
  addListOptions(
    ofWorkspace('list', 'list documents, oldest first except those made with an Idempotency-Key'),
    COLUMNS,
  ).action(run(listDocuments))
  ofWorkspace('show', 'show a document').argument('<document_id>', 'its id', parseDocumentId).action(run(showDocument))
  ofWorkspace('get', 'fetch the content of a document')
    .argument('<document_id>', 'its id', parseDocumentId)
    .option('--output <file>', 'file to write, or "-" for standard output; by default its own name')
    .addHelpText('after', '\nAn existing file is not overwritten.')
    .action(run(getDocument))
  ofWorkspace('verify', 'compare the size and SHA-256 of documents with what S3 says of their objects')
    .argument('<document_id...>', 'their ids', parseDocumentIds)
    .addHelpText('after', '\nReads no content. Exits with 1 if one differs or has no object.')
    .action(run(verifyDocuments))
  ofWorkspace('delete', 'delete documents with their objects, and give their bytes back to the workspace')
    .argument('<document_id...>', 'their ids', parseDocumentIds)
    .option('--yes', 'do not ask', false)
    .addHelpText('after', '\nMay be repeated: what is already gone is fine. Ctrl-C stops after the current document.')
    .action(run(confirmAndDelete))

  function ofWorkspace(name: string, description: string): Command {
    return group.command(name).description(description).argument('<workspace_id>', 'the workspace', parseWorkspaceId)
  }
}

/** Leaves out `countedFrom`, which concerns only the ledger. */
const toJson = ({ countedFrom: _, ...document }: WorkspaceDocument) => document

async function listDocuments({ output, signal, stores }: Session, workspaceId: WorkspaceId, options: ListOptions) {
  const { documents, workspaces } = await stores()
  const noun = `documents in ${workspaceId}`
  const count = await output.list(documents.list(workspaceId, signal), { ...options, columns: COLUMNS, toJson, noun })
  if (count === 0) await requireWorkspace(workspaceId, workspaces, signal)
}

async function showDocument(session: Session, workspaceId: WorkspaceId, documentId: DocumentId): Promise<ExitCode> {
  const { objects, ...stores } = await session.stores()
  const document = await findDocument(stores, workspaceId, documentId, session.signal)
  const { objectKey } = document
  const hasObject = await objects.hasObject(objectKey, session.signal)
  const text = table(
    [],
    [
      ['document', documentId],
      ['workspace', workspaceId],
      ['filename', document.filename],
      ['type', document.mimeType],
      ['size', exactBytes(document.sizeBytes)],
      ['created', document.createdAt.toISOString()],
      ['created by', document.createdBy],
      ['container', document.containerId],
      ['object', hasObject ? objectKey : `${objectKey} IS LOST: see npm run admin -- audit --help`],
    ],
  )
  session.output.print(text, { ...toJson(document), hasObject })
  return hasObject ? 0 : 1
}

async function confirmAndDelete(
  session: Session,
  workspaceId: WorkspaceId,
  ids: DocumentId[],
  { yes }: { yes: boolean },
): Promise<void> {
  await requireWorkspace(workspaceId, (await session.stores()).workspaces, session.signal)
  await confirm(`Delete ${counted(ids.length, 'document')} of ${workspaceId} in ${session.place}?`, yes, session)
  await deleteDocuments(session, workspaceId, ids)
}

export async function deleteDocuments(session: Session, workspaceId: WorkspaceId, ids: DocumentId[]): Promise<void> {
  const { output, signal } = session
  const stores = await session.stores()
  for (const [index, documentId] of ids.entries()) {
    signal.throwIfAborted()
    output.progress(`deleting ${index + 1} of ${ids.length}: ${documentId}`)
    const deleted = await deleteDocument({ workspaceId, documentId }, stores, AbortSignal.timeout(DELETION_TIMEOUT_MS))
    if (deleted === undefined) {
      const text = `${documentId}: there is no such document (any more).`
      output.done(text, { workspaceId, documentId, outcome: 'absent' })
      continue
    }
    const { document } = deleted
    const name = 'filename' in document ? ` (${document.filename})` : ''
    const text = `${documentId}: deleted, ${exactBytes(document.sizeBytes)} given back${name}.`
    output.done(text, { workspaceId, documentId, outcome: 'deleted', sizeBytes: document.sizeBytes })
  }
}
