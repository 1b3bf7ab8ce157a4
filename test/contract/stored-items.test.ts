import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { expect, it } from 'vitest'
import type { Attributes, Codec } from '../../lib/aws/dynamodb/codec.ts'
import { DELETED, DUE, READY } from '../../lib/aws/dynamodb/document-codec.ts'
import { HOLD, REFUND, WORKSPACE } from '../../lib/aws/dynamodb/workspace-codec.ts'
import type { Attempt } from '../../lib/ledger/ports/documents.ts'
import { UnreadableItemError } from '../../lib/ledger/ports/unreadable-item.ts'
import { DOCUMENTS_TABLE, WORKSPACES_TABLE } from '../support/dynamodb/memory-tables.ts'
import { createPorts, WORKSPACE as WORKSPACE_ID } from '../support/ports.ts'
import { pendingOf, signal, strayOf } from '../support/stores/ledger-values.ts'

/** 2^53 + 1: JavaScript cannot tell it from 2^53. */
const TOO_LARGE = { N: '9007199254740993' }
const KEYS = ['workspace_id', 'document_id']
/** DynamoDB itself refuses these with another type. */
const KEYS_OF_INDEXES = ['erasure_due_at', 'due_at']

type Damage = (item: Attributes) => void

/** Each damages one of an item's attributes. */
function damagesOf(codec: object, of = ''): [what: string, damage: Damage][] {
  const attributes = Object.entries(codec as Codec<never>).filter(([name]) => !KEYS.includes(name))
  return attributes.flatMap(([name, { kind, isOptional }]) => {
    const isNumber = kind === 'number' || kind === 'ms'
    const mayHaveAnyType = !KEYS_OF_INDEXES.includes(name)
    const wrong: [string, AttributeValue | undefined, boolean][] = [
      ['missing', undefined, !isOptional],
      ['of another type', isNumber ? { S: '7' } : { N: '7' }, mayHaveAnyType],
      ['of no type', { NULL: true }, mayHaveAnyType],
      ['beyond 2^53', TOO_LARGE, isNumber],
    ]
    return wrong.flatMap(([what, value, isPossible]): [string, Damage][] => {
      const damage: Damage = (item) => {
        delete item[name]
        if (value) item[name] = value
      }
      return isPossible ? [[`${of}${name} ${what}`, damage]] : []
    })
  })
}

const DOCUMENTS = { pending: DUE, ready: READY, deleting: DELETED, gone: DELETED, stray: DUE } as const
const OF_DOCUMENTS = Object.entries(DOCUMENTS).flatMap(([state, codec]) =>
  damagesOf(codec).map(([what, damage]) => ({ state, what, damage })),
)

it.each(OF_DOCUMENTS)(
  'an item that is $state, with $what, is passed by and told; alone, it is refused',
  async ({ state, damage }) => {
    const { begin, deleteDocument, deps, documents, run, stored } = createPorts()
    const [good, one] = [await run(['begin', 'record']), begin()]
    if (state === 'stray') await documents.putStray(strayOf(one), signal)
    else if (state === 'pending') await run(['begin'], one)
    else {
      const document = await run(['begin', 'hold', 'record'], one, { expiresAt: new Date(0) })
      if (state === 'deleting') await run(['delete'], one)
      if (state === 'gone') await deleteDocument(document)
    }
    const { workspaceId, documentId, attemptId } = one
    const key = { workspaceId, itemId: state === 'stray' ? `${documentId}/${attemptId}` : documentId }
    const find = (): Promise<unknown> =>
      state === 'stray' ? documents.findStray(one, signal) : documents.find(one, signal)
    expect(await find()).toMatchObject({ state })
    await stored.change(DOCUMENTS_TABLE, damage, ({ document_id }) => document_id?.S === key.itemId)

    const errors: Error[] = []
    const options = { onUnreadable: (error: Error) => void errors.push(error) }
    const listed = await Array.fromAsync(documents.list(WORKSPACE_ID, signal, options))
    expect(listed.map(({ attemptId }) => attemptId)).toEqual([good.attemptId])
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining(key.itemId)])
    await expect(Array.fromAsync(documents.list(WORKSPACE_ID, signal))).rejects.toBeInstanceOf(UnreadableItemError)
    await expect(find()).rejects.toBeInstanceOf(UnreadableItemError)
    await expect(deps.dueWork.findDue({ ...key, dueAtMs: 0 }, signal)).rejects.toBeInstanceOf(UnreadableItemError)
    if (state === 'stray') return
    const beginning = documents.begin(pendingOf(one), undefined, signal)
    await expect(beginning).rejects.toBeInstanceOf(UnreadableItemError)
  },
)

it('an item of a state that nobody knows is no document', async () => {
  const { documents, run, stored } = createPorts()
  const one: Attempt = await run(['begin', 'record'])
  await stored.change(DOCUMENTS_TABLE, (item) => Object.assign(item, { item_state: { S: 'archived' } }))
  await expect(documents.find(one, signal)).rejects.toThrow('item_state is archived')
})

type Kind = 'holds' | 'refunds'
/** Each damages a hold or refund in a ledger, instead of the ledger. */
const ofEntries = (kind: Kind, codec: object): [what: string, damage: Damage][] => {
  const ofEach = damagesOf(codec).map(([what, damage]): [string, Damage] => [
    `${kind} with ${what}`,
    (item) => {
      for (const { M = {} } of Object.values(item[kind]?.M ?? {})) damage(M)
    },
  ])
  const ofNone: Damage = (item) => {
    item[kind] = { M: { id: { NULL: true } } }
  }
  return [...ofEach, [`${kind} that are no maps`, ofNone]]
}
const OF_LEDGERS = [...damagesOf(WORKSPACE), ...ofEntries('holds', HOLD), ...ofEntries('refunds', REFUND)]

it.each(OF_LEDGERS)('a ledger, with %s, is named when it is read, and still listed', async (_, damage) => {
  const { deps, ledger, run, stored } = createPorts()
  await run(['hold', 'beginRefund'])
  expect(await ledger.read(WORKSPACE_ID, signal)).toMatchObject({ usedBytes: 100 })
  await stored.change(WORKSPACES_TABLE, damage)
  for (const read of [() => ledger.read(WORKSPACE_ID, signal), () => ledger.usage(WORKSPACE_ID, signal)]) {
    const reading = read()
    await expect(reading).rejects.toBeInstanceOf(UnreadableItemError)
    await expect(reading).rejects.toThrow(WORKSPACE_ID)
  }
  expect(await Array.fromAsync(deps.workspaces.list(signal, { shard: 0, totalShards: 1 }))).toEqual([WORKSPACE_ID])
  const unreadable = { id: WORKSPACE_ID, error: expect.any(UnreadableItemError) }
  expect(await Array.fromAsync(deps.workspaces.readAll(signal))).toEqual([unreadable])
})

it('a ledger that cannot be read is not in the way of what closes', async () => {
  const { begin, ledger, run, stored } = createPorts()
  const one = begin()
  await run(['hold'], one)
  await stored.change(WORKSPACES_TABLE, (item) => Object.assign(item, { corrected_in: TOO_LARGE }))
  await ledger.capture(one, signal)
  expect(stored.attributes(WORKSPACES_TABLE)).toMatchObject([{ holds: { M: {} }, remaining_bytes: { N: '900' } }])
})
