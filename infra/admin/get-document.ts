import { createWriteStream } from 'node:fs'
import { access, link, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3'
import { attachmentName } from '../../lib/files/content-disposition.ts'
import type { DocumentId, WorkspaceId } from '../../lib/ids.ts'
import type { WorkspaceDocument } from '../../lib/promotion/document-records.ts'
import { CommandError } from './command-error.ts'
import type { Stores } from './connect.ts'
import { bytes, exactBytes } from './output.ts'
import type { ExitCode, Session } from './session.ts'

const BAR_WIDTH = 30

/** Downloads the content of a document. The file appears under its name only when it is complete. */
export async function getDocument(
  { workspaceId, documentId, target }: { workspaceId: WorkspaceId; documentId: DocumentId; target: string | undefined },
  session: Session,
): Promise<ExitCode> {
  const { output, signal, terminal } = session
  const stores = await session.stores()
  const document = await stores.documents.find(workspaceId, documentId, signal)
  if (document === undefined) {
    throw new CommandError('document_not_found', `Workspace ${workspaceId} has no document ${documentId}.`)
  }
  const file = target ?? basename(attachmentName(document.filename))
  if (file !== '-') await requireFree(file)
  const content = await open(document, stores, signal)
  const counted = countBytes(document, (text) => output.progress(text))
  if (file === '-') {
    await pipeline(content, counted, terminal.stdout, { signal, end: false })
    return 0
  }
  const part = `${file}.${documentId}.part`
  try {
    await pipeline(content, counted, createWriteStream(part), { signal })
    // Unlike a rename, a link never replaces a file that appeared meanwhile.
    await link(part, file)
  } finally {
    await rm(part, { force: true })
  }
  const { sizeBytes } = document
  output.done(`${file}: ${exactBytes(sizeBytes)}.`, { workspaceId, documentId, file, sizeBytes })
  return 0
}

async function requireFree(file: string): Promise<void> {
  const isThere = await access(file).then(
    () => true,
    () => false,
  )
  if (isThere) throw new CommandError('file_exists', `${file} is there already: say with --output where to put it.`)
}

async function open(document: WorkspaceDocument, { s3, config }: Stores, signal: AbortSignal): Promise<Readable> {
  const object = { Bucket: config.documentsBucket, Key: document.objectKey }
  try {
    const { Body } = await s3.send(new GetObjectCommand(object), { abortSignal: signal })
    if (Body instanceof Readable) return Body
  } catch (error) {
    if (!(error instanceof NoSuchKey)) throw error
    const message = `The content of ${document.documentId} is lost: see npm run admin -- audit --help`
    throw new CommandError('content_lost', message, { cause: error })
  }
  throw new Error('S3 answered without a content')
}

/** Passes the bytes on, reports progress, and fails when their number differs from the record. */
function countBytes({ sizeBytes }: WorkspaceDocument, tell: (text: string) => void): Transform {
  let seen = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      tell(progressBar(seen, sizeBytes))
      done(null, chunk)
    },
    flush(done) {
      const message = `S3 sent ${seen} bytes of ${sizeBytes}`
      done(seen === sizeBytes ? null : new CommandError('content_incomplete', message, { exitCode: 2 }))
    },
  })
}

export function progressBar(seen: number, sizeBytes: number): string {
  const share = sizeBytes === 0 ? 1 : seen / sizeBytes
  const bar = '#'.repeat(Math.floor(share * BAR_WIDTH)).padEnd(BAR_WIDTH, '.')
  return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)} % of ${bytes(sizeBytes)}`
}
