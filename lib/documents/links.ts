import type { DocumentOfAttempt } from '../auth/link-token.ts'
import type { Disposition } from '../files/content-disposition.ts'
import type { WorkspaceId } from '../ids.ts'

/** Leads whoever has its address to one document's content. */
export interface Link extends DocumentOfAttempt {
  linkId: string
  disposition: Disposition
  createdAt: Date
  /** On a whole second. */
  expiresAt: Date
  /** `key_id` of the API key. */
  createdBy: string
}

export const hasEnded = ({ expiresAt }: Link, nowMs: number) => expiresAt.getTime() <= nowMs

export interface Links {
  /** Sent once: what arrives late must not bring back a link that was removed since. @returns false when there is one with this id */
  add(link: Link, token: string, signal: AbortSignal): Promise<boolean>
  /** @param text begins with a token; what follows does not matter @returns undefined: it leads nowhere, or has ended */
  find(text: string, signal: AbortSignal): Promise<Link | undefined>
  /** All to one document, also those that have ended, oldest first. They are read consistently. */
  list(document: DocumentOfAttempt, signal: AbortSignal): Promise<Link[]>
  /** @returns false when the document has no such link */
  remove(link: Pick<Link, 'workspaceId' | 'linkId'> & { documentId: string }, signal: AbortSignal): Promise<boolean>
  /** Removes all of a workspace, also those that cannot be read; or those that a key has made. @returns how many */
  removeAll(of: { workspaceId: WorkspaceId } | { createdBy: string }, signal: AbortSignal): Promise<number>
}
