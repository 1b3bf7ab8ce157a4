import { createWriteStream, existsSync } from 'node:fs'
import { link, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { attachmentName } from '../../../lib/files/content-disposition.ts'
import type { DocumentId, WorkspaceId } from '../../../lib/ids.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import { CommandError } from '../command-error.ts'
import type { Stores } from '../connect.ts'
import type { Session } from '../session.ts'
import { bytes, exactBytes } from '../terminal/output.ts'
import { requireWorkspace } from './require-workspace.ts'

type Options = { output?: string }

/** @throws CommandError when there is none */
export async function findDocument(
  { documents, ledger }: Pick<Stores, 'documents' | 'ledger'>,
  workspaceId: WorkspaceId,
  documentId: DocumentId,
  signal: AbortSignal,
): Promise<WorkspaceDocument> {
  const document = await documents.find({ workspaceId, documentId }, signal)
  if (document?.state === 'ready') return document
  await requireWorkspace(workspaceId, { ledger }, signal)
  const hint = `"documents list ${workspaceId}" shows those it has`
  throw new CommandError('document_not_found', `Workspace ${workspaceId} has no document ${documentId}: ${hint}.`)
}

/** Downloads the content of a document. The file appears under its name only when it is complete. */
export async function getDocument(
  session: Session,
  workspaceId: WorkspaceId,
  documentId: DocumentId,
  options: Options,
) {
  const { output, signal, terminal } = session
  const stores = await session.stores()
  const document = await findDocument(stores, workspaceId, documentId, signal)
  const file = options.output ?? basename(attachmentName(document.filename))
  if (file !== '-' && existsSync(file))
    throw new CommandError('file_exists', `${file} is there already: say with --output where to put it.`)
  const content = await open(document, stores, signal)
  const counting = countBytes(document, output.progress)
  // A reader that closes the pipe has read enough.
  const unlessEnough = (error: NodeJS.ErrnoException) => (error.code === 'EPIPE' ? undefined : Promise.reject(error))
  if (file === '-') return pipeline(content, counting, terminal.stdout, { signal, end: false }).catch(unlessEnough)

  const part = `${file}.${documentId}.part`
  try {
    await pipeline(content, counting, createWriteStream(part), { signal })
    // Unlike a rename, a link never replaces a file that appeared meanwhile.
    await link(part, file)
  } finally {
    await rm(part, { force: true })
  }
  const { sizeBytes } = document
  output.done(`${file}: ${exactBytes(sizeBytes)}.`, { workspaceId, documentId, file, sizeBytes })
}

async function open(document: WorkspaceDocument, { s3, config }: Stores, signal: AbortSignal): Promise<Readable> {
  const { GetObjectCommand, NoSuchKey } = await import('@aws-sdk/client-s3')
  const object = { Bucket: config.documentsBucket, Key: document.objectKey }
  try {
    return (await s3.send(new GetObjectCommand(object), { abortSignal: signal })).Body as Readable
  } catch (error) {
    if (!(error instanceof NoSuchKey)) throw error
    const message = `The content of ${document.documentId} is lost: see npm run admin -- audit --help`
    throw new CommandError('content_lost', message, { cause: error })
  }
}

/** Passes the bytes on, shows progress, and fails when their number differs from the record. */
function countBytes({ sizeBytes }: WorkspaceDocument, progress: (text: string) => void) {
  return async function* (chunks: AsyncIterable<Buffer>) {
    let seen = 0
    for await (const chunk of chunks) {
      seen += chunk.length
      progress(`${bytes(seen)} of ${bytes(sizeBytes)}`)
      yield chunk
    }
    if (seen === sizeBytes) return
    throw new CommandError('content_incomplete', `S3 sent ${seen} bytes of ${sizeBytes}`, { exitCode: 2 })
  }
}
