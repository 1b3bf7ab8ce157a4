import type { Command } from 'commander'
import type { DocumentId, WorkspaceId } from '../../lib/ids.ts'
import { deleteDocument } from '../../lib/promotion/delete-document.ts'
import type { WorkspaceDocument } from '../../lib/promotion/document-records.ts'
import { CommandError } from './command-error.ts'
import { confirm } from './confirm.ts'
import type { Stores } from './connect.ts'
import { getDocument } from './get-document.ts'
import { addListOptions, type ListOptions } from './list-options.ts'
import { bytes, exactBytes, table } from './output.ts'
import { parseDocumentId, parseDocumentIds, parseWorkspaceId } from './parse-values.ts'
import type { ExitCode, Run, Session } from './session.ts'

/** Time for one deletion, which is not interrupted once it has begun. */
const DELETION_TIMEOUT_MS = 30_000

export function addDocumentsCommands(group: Command, run: Run): void {
  addListOptions(
    group
      .command('list')
      .description('the documents of a workspace, oldest first unless made with an Idempotency-Key')
      .argument('<workspace_id>', 'whose', parseWorkspaceId),
    Object.keys(COLUMNS),
  ).action((workspace: WorkspaceId, options: ListOptions) => run((session) => list(workspace, options, session)))
  group
    .command('show')
    .description('one document')
    .argument('<workspace_id>', 'whose', parseWorkspaceId)
    .argument('<document_id>', 'which', parseDocumentId)
    .action((workspace: WorkspaceId, id: DocumentId) => run((session) => show(workspace, id, session)))
  group
    .command('get')
    .description('fetch the content of a document')
    .argument('<workspace_id>', 'whose', parseWorkspaceId)
    .argument('<document_id>', 'which', parseDocumentId)
    .option('--output <file>', 'where to, "-" for the standard output; default: here, under its own name')
    .addHelpText('after', '\nA file that is there already is not overwritten.')
    .action((workspace: WorkspaceId, id: DocumentId, { output }: { output?: string }) =>
      run((session) => getDocument({ workspaceId: workspace, documentId: id, target: output }, session)),
    )
  group
    .command('delete')
    .description('delete documents with their objects, and give their bytes back to the workspace')
    .argument('<workspace_id>', 'whose', parseWorkspaceId)
    .argument('<document_id...>', 'which', parseDocumentIds)
    .option('--yes', 'do not ask', false)
    .addHelpText(
      'after',
      '\nMay be repeated: documents already gone are fine. Ctrl-C stops after the current document; the service finishes\nwithin minutes what a killed process left half done.',
    )
    .action((workspace: WorkspaceId, ids: DocumentId[], { yes }: { yes: boolean }) =>
      run((session) => deleteAll(workspace, ids, yes, session)),
    )
}

const COLUMNS = {
  DOCUMENT: ({ documentId }) => documentId,
  SIZE: ({ sizeBytes }) => bytes(sizeBytes),
  TYPE: ({ mimeType }) => mimeType,
  CREATED: ({ createdAt }) => createdAt.toISOString(),
  'CREATED BY': ({ createdBy }) => createdBy,
  FILENAME: ({ filename }) => filename,
} satisfies Record<string, (document: WorkspaceDocument) => string>

/** How it is counted is the ledger's matter. */
function forPrograms({ countedFrom: _, ...document }: WorkspaceDocument): object {
  return document
}

async function list(workspaceId: WorkspaceId, options: ListOptions, session: Session): Promise<ExitCode> {
  const { documents, ledgers } = await session.stores()
  const count = await session.output.list(documents.list(workspaceId, session.signal), {
    ...options,
    columns: COLUMNS,
    sortBy: { SIZE: ({ sizeBytes }) => sizeBytes },
    toJson: forPrograms,
    none: `Workspace ${workspaceId} has no documents.`,
    noun: 'documents',
  })
  if (count === 0 && (await ledgers.read(workspaceId, session.signal)) === undefined) {
    throw new CommandError('workspace_not_found', `There is no workspace ${workspaceId}.`)
  }
  return 0
}

async function show(workspaceId: WorkspaceId, documentId: DocumentId, session: Session): Promise<ExitCode> {
  const { documents, objects } = await session.stores()
  const document = await documents.find(workspaceId, documentId, session.signal)
  if (document === undefined) {
    throw new CommandError('document_not_found', `Workspace ${workspaceId} has no document ${documentId}.`)
  }
  const hasObject = await objects.hasObject(document.objectKey, session.signal)
  session.output.tell(describe(document, hasObject), { ...forPrograms(document), hasObject })
  return hasObject ? 0 : 1
}

async function deleteAll(
  workspaceId: WorkspaceId,
  documentIds: DocumentId[],
  isConfirmed: boolean,
  session: Session,
): Promise<ExitCode> {
  const ids = [...new Set(documentIds)]
  await confirm(
    `Delete ${ids.length} document${ids.length === 1 ? '' : 's'} of ${workspaceId} in ${session.place}?`,
    isConfirmed,
    session,
  )
  await deleteDocuments(workspaceId, ids, session)
  return 0
}

export async function deleteDocuments(workspaceId: WorkspaceId, ids: DocumentId[], session: Session): Promise<void> {
  const stores = await session.stores()
  for (const [number, documentId] of ids.entries()) {
    session.signal.throwIfAborted()
    session.output.progress(`deleting ${number + 1} of ${ids.length}: ${documentId}`)
    await deleteOne(workspaceId, documentId, stores, session)
  }
}

async function deleteOne(
  workspaceId: WorkspaceId,
  documentId: DocumentId,
  stores: Stores,
  { output }: Session,
): Promise<void> {
  const deleted = await deleteDocument({ workspaceId, documentId }, stores, AbortSignal.timeout(DELETION_TIMEOUT_MS))
  if (deleted === undefined) {
    output.done(`${documentId}: there is no such document (any more).`, { workspaceId, documentId, outcome: 'absent' })
    return
  }
  const { document } = deleted
  const { sizeBytes } = document
  const name = 'filename' in document ? ` (${document.filename})` : ''
  output.done(`${documentId}: deleted, ${exactBytes(sizeBytes)} given back${name}.`, {
    workspaceId,
    documentId,
    outcome: 'deleted',
    sizeBytes,
  })
}

function describe(document: WorkspaceDocument, hasObject: boolean): string {
  return table(
    [],
    [
      ['document', document.documentId],
      ['workspace', document.workspaceId],
      ['filename', document.filename],
      ['type', document.mimeType],
      ['size', exactBytes(document.sizeBytes)],
      ['created', document.createdAt.toISOString()],
      ['created by', document.createdBy],
      ['container', document.containerId],
      ['object', hasObject ? document.objectKey : `${document.objectKey} IS LOST: see npm run admin -- audit --help`],
    ],
  )
}
