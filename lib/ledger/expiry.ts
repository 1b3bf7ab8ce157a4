import type { WorkspaceDocument } from './ports/documents.ts'

/** How long a workspace keeps documents, in seconds; missing: for ever. */
export interface Retention {
  /** For promotions that name no time of their own. */
  expireAfterSeconds?: number | undefined
  /** For all promotions, whatever they name. */
  expireAtMostSeconds?: number | undefined
}

export interface Expiry {
  seconds: number
  by: 'request' | 'default' | 'limit' | 'earlier'
}

/** The request's, else the default, but at most the limit. @returns undefined: it is kept for ever */
export function chooseExpiry(
  wantedSeconds: number | undefined,
  { expireAfterSeconds, expireAtMostSeconds }: Retention,
): Expiry | undefined {
  const seconds = wantedSeconds ?? expireAfterSeconds
  if (expireAtMostSeconds !== undefined && expireAtMostSeconds < (seconds ?? Number.POSITIVE_INFINITY)) {
    return { seconds: expireAtMostSeconds, by: 'limit' }
  }
  return seconds === undefined ? undefined : { seconds, by: wantedSeconds === undefined ? 'default' : 'request' }
}

/** On a whole second, as one of the shapes tells both times in seconds. */
export function expiresAtOf(from: Date, seconds: number): Date {
  return new Date((Math.floor(from.getTime() / 1000) + seconds) * 1000)
}

/** Too late to change the expiry: the change may take a lease to arrive, and must not revive what has expired. */
export function endsSoon(document: Pick<WorkspaceDocument, 'expiresAt'>, nowMs: number, leaseMs: number): boolean {
  return hasExpired(document, nowMs + leaseMs)
}

/** From that moment on a document is gone for callers, whether or not the resolver has deleted it. */
export function hasExpired({ expiresAt }: Pick<WorkspaceDocument, 'expiresAt'>, nowMs: number): boolean {
  return expiresAt !== undefined && expiresAt.getTime() <= nowMs
}
