import { hashToken, ownerHash, ownerHashIn } from '../../auth/api-token.ts'
import { linkIdsBegin, readLinkToken } from '../../auth/link-token.ts'
import { hasEnded, type Link, type Links } from '../../documents/links.ts'
import { SENT_ONCE } from '../calls/send.ts'
import { type Attributes, type Codec, decode, encode } from './codec.ts'
import { getItem, pagesOf, putItem, query, removeItem, removeItems, type Table } from './table.ts'

/** Links are in partitions of their own of the table of keys, so that roles reach the ones and not the others. */
export const LINK_PARTITIONS = 'links_'

const LINK: Codec<Link & { tokenHash: string }> = {
  key_id: { member: 'linkId', kind: 'string' },
  workspace_id: { member: 'workspaceId', kind: 'string' },
  document_id: { member: 'documentId', kind: 'string' },
  attempt_id: { member: 'attemptId', kind: 'string' },
  token_hash: { member: 'tokenHash', kind: 'string' },
  disposition: { member: 'disposition', kind: 'string' },
  created_at: { member: 'createdAt', kind: 'date' },
  expires_at: { member: 'expiresAt', kind: 'ms' },
  created_by: { member: 'createdBy', kind: 'string' },
}

export function createLinks(table: Table & { now(): number }): Links {
  const { now } = table
  const keyOf = (owner: string, linkId: string) => ({ owner_hash: LINK_PARTITIONS + owner, key_id: linkId })

  return {
    async add(link, token, signal) {
      const stored = encode(LINK, { ...link, tokenHash: hashToken(token) })
      const key = keyOf(ownerHash(link.workspaceId), link.linkId)
      const item = { ...stored, ...key, ttl_at: link.expiresAt.getTime() / 1000 }
      const isNew = { ConditionExpression: 'attribute_not_exists(key_id)' }
      return (await putItem(table, item, { name: 'links.add', signal, ...SENT_ONCE }, isNew)).applied
    },

    async find(text, signal) {
      const read = readLinkToken(text)
      if (read === undefined) return undefined
      // The read is consistent: a link that was taken back leads nowhere at once.
      const item = await getItem(table, keyOf(read.owner, read.linkId), { name: 'links.find', signal })
      const link = item?.token_hash?.S === hashToken(read.token) ? toLink(item) : undefined
      return link && !hasEnded(link, now()) ? link : undefined
    },

    async list(document, signal) {
      const { workspaceId, documentId, attemptId } = document
      const wanted = {
        ConsistentRead: true,
        KeyConditionExpression: 'owner_hash = :owner AND begins_with(key_id, :beginning)',
        values: { ':owner': LINK_PARTITIONS + ownerHash(workspaceId), ':beginning': linkIdsBegin(document) },
      }
      const pages = await Array.fromAsync(query(table, { name: 'links.list', signal }, wanted))
      const isOfDocument = (link: Link) =>
        link.workspaceId === workspaceId && link.documentId === documentId && link.attemptId === attemptId
      const found = pages.flat().map(toLink).filter(isOfDocument)
      return found.toSorted((one, other) => one.createdAt.getTime() - other.createdAt.getTime())
    },

    async remove({ workspaceId, documentId, linkId }, signal) {
      const isOfDocument = { ConditionExpression: 'document_id = :document', values: { ':document': documentId } }
      const key = keyOf(ownerHash(workspaceId), linkId)
      return (await removeItem(table, key, isOfDocument, { name: 'links.remove', signal })).applied
    },

    async removeAll(of, signal) {
      const owner = 'createdBy' in of ? ownerHashIn(of.createdBy) : ownerHash(of.workspaceId)
      // Two workspaces could share a hash, but hardly ever do.
      const isMeant = ({ workspace_id, created_by }: Attributes) =>
        'createdBy' in of ? created_by?.S === of.createdBy : (workspace_id?.S ?? of.workspaceId) === of.workspaceId
      let removed = 0
      const pages = pagesOf(table, { owner_hash: LINK_PARTITIONS + owner }, { name: 'links.list', signal })
      for await (const items of pages) {
        const keys = items.filter(isMeant).map(({ key_id }) => keyOf(owner, `${key_id?.S}`))
        await removeItems(table, keys, { name: 'links.remove', signal })
        removed += keys.length
      }
      return removed
    },
  }
}

const toLink = (item: Attributes): Link => {
  const { tokenHash: _, ...link } = decode(LINK, item)
  return link
}
