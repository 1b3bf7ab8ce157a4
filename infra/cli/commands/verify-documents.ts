import type { DocumentId, WorkspaceId } from '../../../lib/ids.ts'
import type { ExitCode, Session } from '../session.ts'
import { findDocument } from './get-document.ts'

const TEXTS = {
  matches: 'matches',
  no_sha256: 'no SHA-256 kept; its size matches',
  differs: 'differs',
  object_missing: 'object missing',
}

export async function verifyDocuments(
  { output, signal, stores }: Session,
  workspaceId: WorkspaceId,
  ids: DocumentId[],
): Promise<ExitCode> {
  const { objects, ...others } = await stores()
  let isWrong = false
  for (const documentId of ids) {
    const { objectKey, sizeBytes, sha256 } = await findDocument(others, workspaceId, documentId, signal)
    const object = await objects.describeObject(objectKey, signal)
    const outcome = compare({ sizeBytes, sha256 }, object)
    isWrong ||= outcome === 'differs' || outcome === 'object_missing'
    const facts = { sizeBytes, sha256, objectBytes: object?.sizeBytes, objectSha256: object?.sha256 }
    output.print(`${documentId}: ${TEXTS[outcome]}`, { workspaceId, documentId, outcome, ...facts })
  }
  return isWrong ? 1 : 0
}

type Described = { sizeBytes: number; sha256?: string | undefined }

function compare(document: Described, object: Described | undefined): keyof typeof TEXTS {
  if (object === undefined) return 'object_missing'
  if (object.sizeBytes !== document.sizeBytes) return 'differs'
  if (document.sha256 === undefined) return 'no_sha256'
  return object.sha256 === document.sha256 ? 'matches' : 'differs'
}
