import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, it } from 'vitest'
import { createDocumentRecords } from '../../lib/aws/dynamodb/document-records.ts'
import { createQuotaLedger } from '../../lib/aws/dynamodb/quota-ledger.ts'
import { createReservations } from '../../lib/aws/dynamodb/reservations.ts'
import { newAttempt, newDocument, newRelease } from '../support/stores/ledger-values.ts'

/** What a condition asks for, as the adapters write it. */
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
  IS_CLOSED_BY: 'released_by = :release_id',
}
/** Of a row and of a tombstone. */
const NOT_CLOSED = 'attribute_not_exists(released_by)'
/** The longest first: some are parts of others. */
const BY_LENGTH = Object.entries(FRAGMENTS).toSorted(([, one], [, other]) => other.length - one.length)

const signal = new AbortController().signal
const reservation = newAttempt()
const undo = newRelease(reservation, 'undo')
const deletion = newRelease(reservation, 'deletion')

/** As the protocol asks for them (docs/reliability.md): alternatives and names in alphabetical order. */
const CONDITIONS = {
  take: 'HAS_ROOM AND IS_NEW_MARKER AND IS_NOT_CROWDED',
  mark: 'IS_NEW_MARKER AND IS_NOT_CROWDED',
  markDeletion: 'IS_NEW_MARKER AND IS_NOT_CROWDED',
  unmark: 'IS_MARKED',
  release: 'IS_MARKED',
  claim: 'IS_FREE_ROW OR IS_CLAIM AND IS_DEAD_ROW',
  reserve: 'IS_FREE_ROW',
  reserveClaimed: 'IS_CLAIM AND IS_OWN_ROW',
  fenceReservation: 'IS_FREE_ROW',
  removeClaim: 'IS_CLAIM AND IS_OWN_ROW',
  handOver: 'IS_OPEN AND IS_OWN_ROW AND IS_PROMOTION',
  remove: 'IS_OWN_ROW',
  noteLateCopy: '',
  noteDeletion: '',
  record: 'IS_FREE OR IS_EXPIRED AND IS_TOMBSTONE OR IS_NOT_FENCED AND IS_TOMBSTONE AND WAS_NO_DOCUMENT',
  fence: 'IS_FREE OR IS_EXPIRED AND IS_TOMBSTONE OR IS_NOT_FENCED AND IS_TOMBSTONE AND WAS_NO_DOCUMENT',
  fenceBeside: 'IS_NOT_FENCED AND IS_NOT_OWN AND IS_THERE',
  delete: 'IS_ATTEMPTS_DOCUMENT OR IS_UNFINISHED',
  handOverTombstone: 'IS_NOT_CLOSED AND IS_UNFINISHED',
  expire: 'IS_CLOSED_BY',
}
type WriteName = keyof typeof CONDITIONS

/** Left out: the writes that ask for what was read (reschedule, correct, and the removal of a deletion's note). */
const CALLS: Record<Exclude<WriteName, 'fenceBeside'>, (client: DynamoDBClient) => Promise<unknown>> = {
  take: (client) => ledgerOf(client).take(reservation, signal),
  mark: (client) => ledgerOf(client).mark(undo, signal),
  markDeletion: (client) => ledgerOf(client).mark(deletion, signal),
  unmark: (client) => ledgerOf(client).unmark(reservation, signal),
  release: (client) => ledgerOf(client).release(undo, signal),
  claim: (client) => reservationsOf(client).claim(reservation, signal, reservation),
  reserve: (client) => reservationsOf(client).reserve(reservation, false, signal),
  reserveClaimed: (client) => reservationsOf(client).reserve(reservation, true, signal),
  fenceReservation: (client) => reservationsOf(client).fence(reservation, false, signal),
  removeClaim: (client) => reservationsOf(client).fence(reservation, true, signal),
  handOver: (client) => reservationsOf(client).handOver(undo, signal),
  remove: (client) => reservationsOf(client).remove(reservation, signal),
  noteLateCopy: (client) => reservationsOf(client).note('late_copy', reservation, signal),
  noteDeletion: (client) => reservationsOf(client).note('deletion', reservation, signal),
  record: (client) => documentsOf(client).record(newDocument(reservation), signal),
  fence: (client) => documentsOf(client).fence(reservation, signal),
  delete: (client) => documentsOf(client).delete(reservation, signal),
  handOverTombstone: (client) => documentsOf(client).handOver({ ...deletion, markedIn: 1 }, signal),
  expire: (client) => documentsOf(client).expire(deletion, signal),
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

/** Names in alphabetical order. Text that is no fragment stays, and equals no name. */
function nameOf(write: WriteName, condition: string): string {
  let named = condition
  for (const [name, fragment] of BY_LENGTH) named = named.replaceAll(fragment, name)
  const flat = flatten(named.replaceAll(NOT_CLOSED, write === 'handOver' ? 'IS_OPEN' : 'IS_NOT_CLOSED'))
  return flat
    .split(' OR ')
    .map((each) => each.split(' AND ').filter(Boolean).sort().join(' AND '))
    .join(' OR ')
}

/** Without parentheses: A AND (B OR C) is A AND B OR A AND C. */
function flatten(condition: string): string {
  const flat = condition.replace(/((?:\w+ AND )*)\(([^()]*)\)/g, (_, before: string, inner: string) =>
    inner
      .split(' OR ')
      .map((each) => before + each)
      .join(' OR '),
  )
  return flat === condition ? flat : flatten(flat)
}

describe('a write of lib/aws has the condition of the protocol', () => {
  it.each(Object.entries(CALLS))('%s', async (name, call) => {
    const [condition = ''] = await conditionsOf(call, 0)

    expect(nameOf(name as WriteName, condition)).toBe(CONDITIONS[name as WriteName])
  })

  it('fence, where its place is taken', async () => {
    const [, condition = ''] = await conditionsOf((client) => documentsOf(client).fence(reservation, signal), 1)

    expect(nameOf('fenceBeside', condition)).toBe(CONDITIONS.fenceBeside)
  })
})
