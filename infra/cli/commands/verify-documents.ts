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
    const isOther = object?.sizeBytes !== sizeBytes || (sha256 !== undefined && object.sha256 !== sha256)
    const [same, other] = [sha256 ? 'matches' : 'no_sha256', object ? 'differs' : 'object_missing'] as const
    const outcome = isOther ? other : same
    isWrong ||= isOther
    const facts = { sizeBytes, sha256, objectBytes: object?.sizeBytes, objectSha256: object?.sha256 }
    output.print(`${documentId}: ${TEXTS[outcome]}`, { workspaceId, documentId, outcome, ...facts })
  }
  return isWrong ? 1 : 0
}
