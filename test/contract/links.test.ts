import { expect, it } from 'vitest'
import { newApiKeyRecord } from '../../lib/auth/api-key-administration.ts'
import { keyIdOf, newToken } from '../../lib/auth/api-token.ts'
import { type DocumentOfAttempt, newLinkToken } from '../../lib/auth/link-token.ts'
import type { Link } from '../../lib/documents/links.ts'
import type { AttemptId, DocumentId } from '../../lib/ids.ts'
import { useTableStores } from '../support/stores/table-stores.ts'

const { signal } = new AbortController()
const on = useTableStores()

function newLink(change: Partial<DocumentOfAttempt & Link> = {}) {
  const [documentId, attemptId] = ['file_1' as DocumentId, 'a1' as AttemptId]
  const document = { workspaceId: on.workspaceId, documentId, attemptId, ...change }
  const { token, linkId } = newLinkToken(document)
  const createdAt = new Date('2026-11-21T09:38:35.556Z')
  const expiresAt = new Date('2099-01-01T00:00:00Z')
  const link: Link = { ...document, linkId, disposition: 'inline', createdAt, expiresAt, createdBy: 'key_1', ...change }
  return { link, token }
}
async function add(change: Parameters<typeof newLink>[0] = {}) {
  const made = newLink(change)
  expect(await on.links.add(made.link, made.token, signal)).toBe(true)
  return made
}

it('keeps all of a link, and finds it by its token alone', async () => {
  const { link, token } = await add()
  expect(await on.links.find(`${token}.`, signal)).toEqual(link)
  const other = `${token.slice(0, -22)}${'0'.repeat(22)}`
  expect(await on.links.find(other, signal)).toBeUndefined()
})

it('adds none in the place of another', async () => {
  const { link, token } = await add()
  expect(await on.links.add(link, newLink().token, signal)).toBe(false)
  expect(await on.links.find(token, signal)).toEqual(link)
})

it('lists those of a document as one attempt has made it, and removes them one by one', async () => {
  const made = [await add(), await add()]
  const others = [await add({ documentId: 'file_2' as DocumentId }), await add({ attemptId: 'a2' as AttemptId })]
  const [one, two] = made.map(({ link }) => link).toSorted((a, b) => (a.linkId < b.linkId ? -1 : 1))
  if (one === undefined || two === undefined) throw new Error('two were made')
  expect(await on.links.list(one, signal)).toEqual([one, two])
  expect(await on.links.remove({ ...one, documentId: 'file_2' }, signal)).toBe(false)
  expect(await on.links.remove(one, signal)).toBe(true)
  expect(await on.links.remove(one, signal)).toBe(false)
  expect(await on.links.list(one, signal)).toEqual([two])
  for (const { link, token } of others) expect(await on.links.find(token, signal)).toEqual(link)
})

it('removes what one key has made, and leaves the others', async () => {
  const [mine, others] = [keyIdOf(on.workspaceId, 'mine'), keyIdOf(on.workspaceId, 'others')]
  const { token } = await add({ createdBy: mine })
  const other = await add({ createdBy: others })
  expect(await on.links.removeAll({ createdBy: mine }, signal)).toBe(1)
  expect(await on.links.removeAll({ createdBy: mine }, signal)).toBe(0)
  expect(await on.links.find(token, signal)).toBeUndefined()
  expect(await on.links.find(other.token, signal)).toEqual(other.link)
})

it('is no key: lists of keys never have links, and what removes all links of a workspace leaves its keys', async () => {
  const { token } = await add()
  const grant = { kind: 'management', permissions: [], userId: undefined, workspaceId: on.workspaceId } as const
  const key = newApiKeyRecord(newToken(keyIdOf(on.workspaceId)), grant, 0)
  await on.keyAdministration.add(key, signal)
  const listed = async (of: object) =>
    (await Array.fromAsync(on.keyAdministration.list(of, signal))).map((each) => ('id' in each ? each.id : each.keyId))
  expect(await listed({ workspaceId: on.workspaceId })).toEqual([key.keyId])
  const all = await listed({})
  expect([all.includes(key.keyId), all.some((id) => id.startsWith('link_'))]).toEqual([true, false])
  expect(await on.links.removeAll({ workspaceId: on.workspaceId }, signal)).toBe(1)
  expect(await on.links.find(token, signal)).toBeUndefined()
  expect(await listed({ workspaceId: on.workspaceId })).toEqual([key.keyId])
})
