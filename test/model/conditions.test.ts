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
  IS_PROMOTION: 'purpose = :promotion',
  IS_OPEN: '(attribute_not_exists(closed_by) OR closed_by = :closed_by)',
  IS_FREE: 'attribute_not_exists(document_id)',
  IS_THERE: 'attribute_exists(document_id)',
  IS_ATTEMPTS_DOCUMENT: '(record_kind = :document AND attempt_id = :attempt_id)',
  IS_TOMBSTONE: 'record_kind = :tombstone',
  IS_FINISHED: 'attribute_exists(expires_at)',
  IS_NOT_FENCED: '(attribute_not_exists(fenced_through) OR fenced_through < :attempt_id)',
  IS_NEWER: '(attribute_not_exists(attempt_id) OR attempt_id < :attempt_id)',
  IS_NOT_OWN: '(attribute_not_exists(attempt_id) OR attempt_id <> :attempt_id)',
  IS_OWN_ROW: 'attempt_id = :attempt_id',
  IS_RETIRED_BY: 'retired_by = :release_id',
}

const signal = new AbortController().signal
const reservation = newReservation()
const undo = newRelease(reservation, 'undo')
const deletion = newRelease(reservation, 'deletion')

/**
 * Left out: removeWatch, whose key already bears the attempt; reschedule and correct, which ask for the version that was read.
 */
const CALLS: Partial<Record<WriteName, (client: DynamoDBClient) => Promise<unknown>>> = {
  take: (client) => ledgerOf(client).take(reservation, signal),
  mark: (client) => ledgerOf(client).mark(undo, signal),
  unmark: (client) => ledgerOf(client).unmark(reservation, signal),
  release: (client) => ledgerOf(client).release(undo, signal),
  open: (client) => reservationsOf(client).open(reservation, signal),
  forestall: (client) => reservationsOf(client).forestall(reservation, signal),
  close: (client) => reservationsOf(client).close(undo, signal),
  remove: (client) => reservationsOf(client).remove(reservation, signal),
  watch: (client) => reservationsOf(client).watch(reservation, signal),
  record: (client) => documentsOf(client).record(newDocument(reservation), signal),
  fence: (client) => documentsOf(client).fence(reservation, signal),
  retire: (client) => documentsOf(client).retire(deletion, signal),
  finish: (client) => documentsOf(client).finish(deletion, signal),
}

const ledgerOf = (client: DynamoDBClient) =>
  createQuotaLedger({ client, tableName: 'workspaces', defaultQuotaBytes: 1000, now: Date.now })
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
function namesOf(condition: string): string[][] {
  let named = condition
  for (const [name, fragment] of Object.entries(FRAGMENTS)) named = named.replaceAll(fragment, name)
  return named.split(' OR ').map((alternative) => {
    const names = alternative.replace(/^\((.*)\)$/, '$1').split(' AND ')
    return names.filter((name) => name !== '').sort()
  })
}

const modelled = (name: WriteName) => CONDITIONS.get(name)?.map((alternative) => [...alternative].sort())

describe('a write of lib/aws has the condition of the model', () => {
  it.each(Object.entries(CALLS))('%s', async (name, call) => {
    const [condition = ''] = await conditionsOf(call, 0)

    expect(namesOf(condition)).toEqual(modelled(name as WriteName))
  })

  it('fence, where its place is taken', async () => {
    const [, condition = ''] = await conditionsOf((client) => documentsOf(client).fence(reservation, signal), 1)

    expect(namesOf(condition)).toEqual(modelled('fenceBeside'))
  })
})
