import { createServer } from 'node:http'
import { HeadObjectCommand } from '@aws-sdk/client-s3'
import { describe, expect, it, vi } from 'vitest'
import { createS3Client } from '../../../lib/aws/clients.ts'
import { send } from '../../../lib/aws/send.ts'
import {
  type Answer,
  CREDENTIALS,
  GOOD,
  json,
  portOf,
  refusal,
  useAnsweringStores,
} from '../../support/stores/answering-stores.ts'
import { refused } from '../../support/stores/client-of.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

skipWaits()
const stores = useAnsweringStores()
const { startStore } = stores

describe('send with a clock that is off', () => {
  const ahead = () => ({ date: new Date(Date.now() + 600_000).toUTCString() })

  it('sends again what was refused because of it, with the time that the store told', async () => {
    const dates: string[] = []
    const noting =
      (answer: Answer): Answer =>
      (request, response) => {
        dates.push(String(request.headers['x-amz-date']))
        answer(request, response)
      }
    const store = await startStore(noting(refusal('InvalidSignatureException', ahead())), noting(GOOD))
    await store.call({ startsCopy: true })
    const [first = 0, second = 0] = dates.map((date) => Number(date.replace(/\D/g, '')))
    expect(second).toBeGreaterThan(first)
  })

  it('sends HeadObject again, whose refusals have no name', async () => {
    let calls = 0
    const server = createServer((_, response) => {
      calls++
      response.writeHead(calls === 1 ? 403 : 200, calls === 1 ? ahead() : {}).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const endpoint = `http://127.0.0.1:${portOf(server)}`
    const client = createS3Client({ endpoint, region: 'us-east-1', credentials: CREDENTIALS, forcePathStyle: true })
    stores.onStop(
      () => client.destroy(),
      () => server.close(),
    )
    await send(client, new HeadObjectCommand({ Bucket: 'b', Key: 'k' }), {
      name: 'HeadObject',
      signal: AbortSignal.timeout(5000),
    })
    expect(calls).toBe(2)
  })

  it('sends again what was held up until its signature had expired', async () => {
    const expired = json(400, {
      __type: 'x#InvalidSignatureException',
      message: 'Signature expired: 1 is now earlier than 2',
    })
    const store = await startStore(expired, GOOD)
    await store.call({ startsCopy: true })
    expect(store.calls()).toBe(2)
  })

  it('sends again what S3 found signed at another time', async () => {
    const sending = vi
      .fn()
      .mockRejectedValueOnce(refused(403, 'RequestTimeTooSkewed'))
      .mockResolvedValueOnce({ $metadata: {} })
    const options = { name: 'a call', signal: AbortSignal.timeout(5000) }
    await send({ send: sending } as never, {} as never, options)
    expect(sending).toHaveBeenCalledTimes(2)
  })

  it('takes no refused condition for a store in trouble', async () => {
    const store = await startStore(refusal('ConditionalCheckFailedException', ahead()))
    await expect(store.call()).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' })
    expect(store.calls()).toBe(1)
  })
})
