import { isLinkId, readLinkToken } from '../../auth/link-token.ts'
import type { Link } from '../../documents/links.ts'
import { listLinks, type ShareDocumentDependencies, shareDocument } from '../../documents/share-document.ts'
import { ServiceError } from '../../errors.ts'

import { answer } from '../answers.ts'
import type { Operations } from '../api-handler.ts'
import { readChoice, readNumber } from '../body.ts'

export interface LinkDependencies extends ShareDocumentDependencies {
  linkDays: number
  /** How the addresses of all links begin, without a slash at the end. */
  linksUrl: string
}

const DAY_SECONDS = 86_400
const LEAST_SECONDS = 60
const MOST_SECONDS = 365 * DAY_SECONDS

/** Links for people, who have no key. What opens them is in open-link-handler.ts. */
export function linkOperations(deps: LinkDependencies) {
  return {
    async create_link({ event, caller, body, state, rateLimitPassed }) {
      const seconds = readNumber(body, 'expires_in_seconds', LEAST_SECONDS, MOST_SECONDS) ?? deps.linkDays * DAY_SECONDS
      const wanted = {
        ...{ workspaceId: caller.workspaceId, documentId: event.pathParameters?.document_id, createdBy: caller.keyId },
        ...{ disposition: readChoice(body, 'disposition', ['attachment', 'inline']), lifeMs: 1000 * seconds },
      }
      await rateLimitPassed
      const { link, token } = await shareDocument(wanted, deps, state.deadline.signal)
      state.telemetry.annotate({ document_id: link.documentId, link_id: link.linkId })
      return answer({ ...describeLink(link), url: `${deps.linksUrl}/${token}` })
    },

    async list_links({ event, caller: { workspaceId }, state }) {
      const documentId = event.pathParameters?.document_id
      const links = await listLinks({ workspaceId, documentId }, deps, state.deadline.signal)
      state.telemetry.annotate({ document_id: documentId })
      return answer({ data: links.map(describeLink) })
    },

    async delete_link({ event, caller: { workspaceId }, state, rateLimitPassed }) {
      const { document_id: documentId = '', link_id: text = '' } = event.pathParameters ?? {}
      // People have the address. It must not get into the log.
      const linkId = readLinkToken(text)?.linkId ?? text
      if (!isLinkId(linkId)) throw new ServiceError('link_not_found')
      state.telemetry.annotate({ document_id: documentId, link_id: linkId })
      await rateLimitPassed
      const isRemoved = await deps.links.remove({ workspaceId, documentId, linkId }, state.deadline.signal)
      if (!isRemoved) throw new ServiceError('link_not_found')
      return answer({ id: linkId, file_id: documentId, deleted: true })
    },
  } satisfies Operations
}

export function describeLink({ linkId, documentId, disposition, createdAt, expiresAt, createdBy }: Link) {
  return {
    ...{ id: linkId, file_id: documentId, disposition },
    ...{ created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString(), created_by: createdBy },
  }
}
