import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it } from 'vitest'
import { createDocumentRecords } from '../../lib/aws/document-records.ts'
import { createQuotaLedger } from '../../lib/aws/quota-ledger.ts'
import { createReservations } from '../../lib/aws/reservations.ts'
import { newDocument, newRelease, newReservation } from '../support/stores/ledger-values.ts'
import { CONDITIONS, type WriteName } from './writes.ts'

/** The model's predicates as the adapters write them. */
const FRAGMENTS = {
  HAS_ROOM: 'remaining_bytes >= :size_bytes',
  IS_NEW_MARKER: 'attribute_not_exists(#markers.#marker)',
  IS_NOT_CROWDED: 'size(#markers) < :most',
  IS_MARKED: 'attribute_exists(#markers.#marker)',
  IS_FREE_ROW: 'attribute_not_exists(reservation_id)',
  IS_DEAD_ROW: 'attempt_id = :dead',
  IS_PROMOTION: 'purpose = :promotion',
  IS_CLAIM: 'purpose = :claim',
  IS_FREE: 'attribute_not_exists(document_id)',
  IS_THERE: 'attribute_exists(document_id)',
  IS_ATTEMPTS_DOCUMENT: '(record_kind = :document AND attempt_id = :attempt_id)',
  IS_UNFINISHED: '(record_kind = :tombstone AND attempt_id = :attempt_id AND attribute_not_exists(expires_at))',
  IS_TOMBSTONE: 'record_kind = :tombstone',
  IS_EXPIRED: 'expires_at <= :now',
  WAS_NO_DOCUMENT: 'attribute_not_exists(attempt_id)',
  IS_NOT_FENCED: '(attribute_not_exists(fenced_through) OR fenced_through < :attempt_id)',
  IS_NOT_OWN: '(attribute_not_exists(attempt_id) OR attempt_id <> :attempt_id)',
  IS_OWN_ROW: 'attempt_id = :attempt_id',
  IS_CLOSED_BY: 'closed_by = :release_id',
}
/** Of a row and of a tombstone. */
const NOT_CLOSED = 'attribute_not_exists(closed_by)'
/** The longest first: some are parts of others. */
const BY_LENGTH = Object.entries(FRAGMENTS).toSorted(([, one], [, other]) => other.length - one.length)

const signal = new AbortController().signal
const reservation = newReservation()
const undo = newRelease(reservation, 'undo')
const deletion = newRelease(reservation, 'deletion')

/** Left out: what has no condition; and the writes that ask for what was read: reschedule, correct, forgetDeletion. */
const CALLS: Partial<Record<WriteName, (client: DynamoDBClient) => Promise<unknown>>> = {
  take: (client) => ledgerOf(client).take(reservation, signal),
  mark: (client) => ledgerOf(client).mark(undo, signal),
  markDeletion: (client) => ledgerOf(client).mark(deletion, signal),
  unmark: (client) => ledgerOf(client).unmark(reservation, signal),
  release: (client) => ledgerOf(client).release(undo, signal),
  claim: (client) =>
    reservationsOf(client).claim(reservation, signal, { ...reservation, purpose: 'claim', closedBy: undefined }),
  open: (client) => reservationsOf(client).open(reservation, false, signal),
  openClaimed: (client) => reservationsOf(client).open(reservation, true, signal),
  forestall: (client) => reservationsOf(client).forestall(reservation, false, signal),
  removeClaim: (client) => reservationsOf(client).forestall(reservation, true, signal),
  close: (client) => reservationsOf(client).close(undo, signal),
  remove: (client) => reservationsOf(client).remove(reservation, signal),
  noteLateCopy: (client) => reservationsOf(client).note('late_copy', reservation, signal),
  noteDeletion: (client) => reservationsOf(client).note('deletion', reservation, signal),
  record: (client) => documentsOf(client).record(newDocument(reservation), signal),
  fence: (client) => documentsOf(client).fence(reservation, signal),
  retire: (client) => documentsOf(client).retire(reservation, signal),
  closeTombstone: (client) => documentsOf(client).close({ ...deletion, markedIn: 1 }, signal),
  finish: (client) => documentsOf(client).finish(deletion, signal),
}

const ledgerOf = (client: DynamoDBClient) =>
  createQuotaLedger({ client, tableName: 'workspaces', defaultQuotaBytes: 1000 })
const reservationsOf = (client: DynamoDBClient) => createReservations({ client, tableName: 'reservations' })
const documentsOf = (client: DynamoDBClient) => createDocumentRecords({ client, tableName: 'documents', now: Date.now })

/**
 * The conditions that a call sends to DynamoDB: the first `refusals` writes are refused, the next one is broken off.
 */
async function conditionsOf(call: (client: DynamoDBClient) => Promise<unknown>, refusals: number): Promise<string[]> {
  const conditions: string[] = []
  const client = {
    send: async ({ input }: { input: { ConditionExpression?: string } }) => {
      conditions.push(input.ConditionExpression ?? '')
      if (conditions.length > refusals) throw new Error('seen enough')
      const Item = marshall({ document_id: 'file_1', record_kind: 'document', attempt_id: 'another' })
      throw new ConditionalCheckFailedException({ message: 'refused', $metadata: {}, Item })
    },
  } as unknown as DynamoDBClient
  await expect(call(client)).rejects.toThrow('seen enough')
  return conditions
}

/** Alternatives of names, in alphabetical order. Text that is no fragment stays, and equals no name. */
function namesOf(write: WriteName, condition: string): string[][] {
  let named = condition
  for (const [name, fragment] of BY_LENGTH) named = named.replaceAll(fragment, name)
  return alternativesOf(named.replaceAll(NOT_CLOSED, write === 'close' ? 'IS_OPEN' : 'IS_NOT_CLOSED'))
}

/** Without parentheses: A AND (B OR C) is A AND B OR A AND C. */
function alternativesOf(condition: string): string[][] {
  const flat = condition.replace(/((?:\w+ AND )*)\(([^()]*)\)/g, (_, before: string, inner: string) =>
    inner
      .split(' OR ')
      .map((each) => before + each)
      .join(' OR '),
  )
  if (flat !== condition) return alternativesOf(flat)
  return flat.split(' OR ').map((each) => each.split(' AND ').filter(Boolean).sort())
}

const modelled = (name: WriteName) => CONDITIONS.get(name)?.map((alternative) => [...alternative].sort())

describe('a write of lib/aws has the condition of the model', () => {
  it.each(Object.entries(CALLS))('%s', async (name, call) => {
    const [condition = ''] = await conditionsOf(call, 0)

    expect(namesOf(name as WriteName, condition)).toEqual(modelled(name as WriteName))
  })

  it('fence, where its place is taken', async () => {
    const [, condition = ''] = await conditionsOf((client) => documentsOf(client).fence(reservation, signal), 1)

    expect(namesOf('fenceBeside', condition)).toEqual(modelled('fenceBeside'))
  })
})
