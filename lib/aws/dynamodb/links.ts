import { hashToken, ownerHash } from '../../auth/api-token.ts'
import { linkIdsBegin, readLinkToken } from '../../auth/link-token.ts'
import type { Link, Links } from '../../documents/links.ts'
import type { WorkspaceId } from '../../ids.ts'
import { type Attributes, type Codec, decode, encode } from './codec.ts'
import { openListedTable, type TableSettings } from './table.ts'

/** Links are in partitions of their own of the table of keys, so that roles reach the ones and not the others. */
export const LINK_PARTITIONS = 'links_'
const partitionOf = (owner: string) => LINK_PARTITIONS + owner

/** How the ids of all links begin. */
const ALL = 'link_'

type StoredLink = Link & { tokenHash: string }

const LINK: Codec<StoredLink> = {
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

export function createLinks(settings: TableSettings & { now(): number }): Links {
  const { now } = settings
  const table = openListedTable(settings)
  const keyOf = (owner: string, key_id: string) => ({ owner_hash: partitionOf(owner), key_id })
  /** Two workspaces could share a hash, but hardly ever do. */
  async function* itemsOf(workspaceId: WorkspaceId, beginning: string, signal: AbortSignal) {
    const query = {
      ConsistentRead: true,
      KeyConditionExpression: 'owner_hash = :owner AND begins_with(key_id, :beginning)',
      values: { ':owner': partitionOf(ownerHash(workspaceId)), ':beginning': beginning },
    }
    for await (const items of table.query({ name: 'links.list', signal }, query))
      yield* items.filter(({ workspace_id }) => workspace_id?.S === workspaceId)
  }

  return {
    async add(link, token, signal) {
      const tokenHash = hashToken(token)
      const item = {
        ...{ ...encode(LINK, { ...link, tokenHash }), ...keyOf(ownerHash(link.workspaceId), link.linkId) },
        ttl_at: link.expiresAt.getTime() / 1000,
      }
      const isNew = { ConditionExpression: 'attribute_not_exists(key_id)' }
      const written = await table.put(item, { name: 'links.add', signal }, isNew)
      // A write that found its own token was sent twice, and had arrived.
      return written.applied || written.item?.token_hash?.S === tokenHash
    },

    async find(text, signal) {
      const { token, owner, linkId } = readLinkToken(text) ?? {}
      if (token === undefined) return undefined
      // The read is consistent: a link that was taken back leads nowhere at once.
      const item = await table.get(keyOf(`${owner}`, `${linkId}`), { name: 'links.find', signal })
      const link = item?.token_hash?.S === hashToken(token) ? toLink(item) : undefined
      return link && link.expiresAt.getTime() > now() ? link : undefined
    },

    async list(document, signal) {
      const isOfDocument = ({ documentId, attemptId, expiresAt }: Link) =>
        documentId === document.documentId && attemptId === document.attemptId && expiresAt.getTime() > now()
      const items = await Array.fromAsync(itemsOf(document.workspaceId, linkIdsBegin(document), signal))
      return items.map(toLink).filter(isOfDocument)
    },

    async remove({ workspaceId, documentId, linkId }, signal) {
      const isOfDocument = { ConditionExpression: 'document_id = :document', values: { ':document': documentId } }
      const key = keyOf(ownerHash(workspaceId), linkId)
      return (await table.remove(key, isOfDocument, { name: 'links.remove', signal })).applied
    },

    async removeAll(workspaceId, signal, createdBy) {
      let removed = 0
      for await (const { key_id, created_by } of itemsOf(workspaceId, ALL, signal)) {
        if (createdBy !== undefined && created_by?.S !== createdBy) continue
        await table.remove(keyOf(ownerHash(workspaceId), `${key_id?.S}`), {}, { name: 'links.remove', signal })
        removed++
      }
      return removed
    },
  }
}

const toLink = (item: Attributes): Link => {
  const { tokenHash: _, ...link } = decode(LINK, item)
  return link
}
