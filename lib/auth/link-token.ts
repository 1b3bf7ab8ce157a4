import { randomBytes } from 'node:crypto'
import type { AttemptId, DocumentId, WorkspaceId } from '../ids.ts'
import { digits, OWNER_LENGTH, ownerHash, sha256 } from './api-token.ts'

const TOKEN_PREFIX = 'cfl_'
const ID_PREFIX = 'link_'
/** Base62 digits that hold 24 bits: they say of which attempt's document a link is. Several may share them. */
const DOCUMENT_LENGTH = 5
/** Base62 digits that hold 32 random bits. */
const NUMBER_LENGTH = 6
const ID_LENGTH = DOCUMENT_LENGTH + NUMBER_LENGTH
/** Base62 digits that hold 128 random bits. */
const SECRET_LENGTH = 22
/** Programs that find addresses in texts often add what follows there. */
const TOKEN = new RegExp(
  `^${TOKEN_PREFIX}([0-9A-Za-z]{${OWNER_LENGTH}})([0-9A-Za-z]{${ID_LENGTH}})[0-9A-Za-z]{${SECRET_LENGTH}}`,
)
const LINK_ID = new RegExp(`^${ID_PREFIX}[0-9A-Za-z]{${ID_LENGTH}}$`)

/** What an attempt has made: an id alone may be another document's later. */
export interface DocumentOfAttempt {
  workspaceId: WorkspaceId
  documentId: DocumentId
  attemptId: AttemptId
}

/** `cfl_`, whose link it is, which of them, and 128 random bits: 48 characters that any text can hold. */
export function newLinkToken(of: DocumentOfAttempt): { token: string; linkId: string } {
  const linkId = linkIdsBegin(of) + digits(randomBytes(4), NUMBER_LENGTH)
  const secret = digits(randomBytes(16), SECRET_LENGTH)
  return { token: TOKEN_PREFIX + ownerHash(of.workspaceId) + linkId.slice(ID_PREFIX.length) + secret, linkId }
}

/** The beginning that the ids of all links to a document share. */
export const linkIdsBegin = ({ documentId, attemptId }: DocumentOfAttempt) =>
  ID_PREFIX + digits(sha256(`${documentId}/${attemptId}`).subarray(0, 3), DOCUMENT_LENGTH)

/** @param text may go on behind the token @returns undefined: it does not begin with one */
export function readLinkToken(text: string): { token: string; owner: string; linkId: string } | undefined {
  const [token, owner = '', id] = TOKEN.exec(text) ?? []
  return token === undefined ? undefined : { token, owner, linkId: ID_PREFIX + id }
}

export const isLinkId = (text: string) => LINK_ID.test(text)
