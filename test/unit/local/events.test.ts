import { expect, it } from 'vitest'
import { createStream } from '../../../infra/local/events.ts'
import type { StreamRecord } from '../../../lib/aws/dynamodb/stream-record.ts'
import { newDocument } from '../../support/stores/ledger-values.ts'
import { deletingItem, imageOf, pendingItem, readyItem } from '../../support/stream-records.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

skipWaits()

it('the stream of npm start hands over what may be an event, from the first that was not done on, until all are', async () => {
  const document = newDocument()
  const [pending, ready, deleting] = [pendingItem(document), readyItem(document), deletingItem(document)].map(imageOf)
  const calls: string[][] = []
  const done = Promise.withResolvers<void>()
  const stream = createStream(async ({ Records }: { Records: StreamRecord[] }) => {
    const numbers = Records.map(({ dynamodb }) => `${dynamodb?.SequenceNumber}`)
    calls.push(numbers)
    if (calls.length === 1) throw new Error('the process is starting')
    if (calls.length === 2) return { batchItemFailures: [{ itemIdentifier: numbers[1] }] }
    done.resolve()
    return { batchItemFailures: [] }
  })
  stream.add(undefined, pending)
  stream.add(pending, ready)
  stream.add(ready, { ...ready, due_at: { N: '1' } })
  stream.add(ready, deleting)
  stream.add(deleting, { ...deleting, item_state: { S: 'gone' } })
  stream.add(pending, undefined)
  await done.promise
  expect(calls).toEqual([['1'], ['1', '2'], ['2']])
})
