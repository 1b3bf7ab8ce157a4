import type { FileLocation } from '../containers/require-container-file.ts'
import { type DocumentId, documentIdFromHash, type WorkspaceId } from '../ids.ts'

/** All promotions of a workspace with this key have one document id: twins meet at its item. */
export function documentIdOfKey(workspaceId: WorkspaceId, idempotencyKey: string): DocumentId {
  // Unambiguous, because no workspace id contains a line break.
  return documentIdFromHash(`${workspaceId}\n${idempotencyKey}`)
}

/** As long as a file is unchanged, all promotions of many files make one document of it: repetitions make nothing twice. */
export function documentIdOfFile({ workspaceId, containerId, path }: FileLocation, etag: string): DocumentId {
  // Ids and paths contain no line breaks, and no text with an Idempotency-Key has more than one.
  return documentIdFromHash([workspaceId, containerId, path, etag].join('\n'))
}
