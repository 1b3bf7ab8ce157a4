import { createHash } from 'node:crypto'
import { ServiceError } from '../errors.ts'
import { isDocumentId, type WorkspaceId } from '../ids.ts'
import type { ListPosition } from './document-listing.ts'

const CHECK_LENGTH = 16

/**
 * A position for callers to keep: opaque, valid in one workspace, for ever, even when the document is gone. The check
 * catches mistakes, not forgers: a forged position only points into the forger's own list.
 */
export function formatCursor(workspaceId: WorkspaceId, { createdAt, documentId }: ListPosition): string {
  const text = `${createdAt.getTime()} ${documentId}`
  return Buffer.from(`${checkOf(workspaceId, text)}${text}`).toString('base64url')
}

/** @throws ServiceError invalid_cursor */
export function parseCursor(workspaceId: WorkspaceId, cursor: string): ListPosition {
  const bytes = Buffer.from(cursor, 'base64url')
  const decoded = bytes.toString('latin1')
  const check = decoded.slice(0, CHECK_LENGTH)
  const text = decoded.slice(CHECK_LENGTH)
  const [createdAtMs = '', documentId = ''] = text.split(' ')
  const isSound = bytes.toString('base64url') === cursor && check === checkOf(workspaceId, text)
  if (!isSound || !/^\d{1,15}$/.test(createdAtMs) || !isDocumentId(documentId)) throw new ServiceError('invalid_cursor')
  return { createdAt: new Date(Number(createdAtMs)), documentId }
}

function checkOf(workspaceId: WorkspaceId, text: string): string {
  return createHash('sha256').update(`${workspaceId}\n${text}`).digest('base64url').slice(0, CHECK_LENGTH)
}
