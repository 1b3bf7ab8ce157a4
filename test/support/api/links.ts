import { newLinkToken } from '../../../lib/auth/link-token.ts'
import type { Link } from '../../../lib/documents/links.ts'
import type { TestApi } from './test-api.ts'

const DAY_MS = 86_400_000
const { signal } = new AbortController()

/** Stores a link to the first document of ws_1, past the API. */
export async function addLink({ ports, stored, clock }: Pick<TestApi, 'ports' | 'stored' | 'clock'>) {
  const [document] = stored.documents()
  if (document === undefined) throw new Error('there is no document')
  const { token, linkId } = newLinkToken(document)
  const link: Link = {
    workspaceId: document.workspaceId,
    documentId: document.documentId,
    attemptId: document.attemptId,
    linkId,
    ...{ disposition: 'attachment', createdBy: 'key_1' },
    ...{ createdAt: new Date(clock.nowMs), expiresAt: new Date(clock.nowMs + DAY_MS) },
  }
  await ports.links.add(link, token, signal)
  return { ...link, token }
}
