import { describe, expect, it } from 'vitest'
import { SENT_ONCE } from '../../../lib/aws/calls/send.ts'
import {
  type Answer,
  call,
  GOOD,
  HANGS,
  json,
  refusal,
  THROTTLED,
  unavailable,
  useAnsweringStores,
} from '../../support/stores/answering-stores.ts'
import { clientOf, refused } from '../../support/stores/client-of.ts'
import { object, startScriptedS3 } from '../../support/stores/scripted-s3.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

const time = skipWaits()
const stores = useAnsweringStores()
const { ask, startStore, clientOf: connect } = stores
/** The header is that of a store whose clock is ten minutes ahead. */
const ahead = () => ({ date: new Date(Date.now() + 600_000).toUTCString() })
const timedOut = (isUnanswered: boolean) => ({ reason: 'request_timed_out', isUnanswered })

describe('send, whose call may be under way', () => {
  it('sends an opening again when its connection was not established in time: it never left', async () => {
    const error = new Error('the request socket did not establish a connection with the server')
    const answers = [Object.assign(error, { name: 'TimeoutError' }), {}]
    const { client, sent } = clientOf({ GetItemCommand: () => answers.shift() })
    await call(client, SENT_ONCE)
    expect(sent).toHaveLength(2)
  })

  it('treats S3’s RequestTimeout as an outage', async () => {
    const { client } = clientOf({ GetItemCommand: () => refused(400, 'RequestTimeout') })
    await expect(call(client, { tries: 1 })).rejects.toMatchObject({ reason: 'service_unavailable' })
  })

  it('takes a connection that was never made for an answer: the store has not seen the call', async () => {
    const store = await startStore(GOOD)
    stores.stopAll()
    for (const host of [`127.0.0.1:${store.port}`, 'no-such-host.invalid']) {
      const calling = call(connect(`http://${host}`), { startsCopy: true })
      await expect(calling).rejects.toMatchObject(unavailable(false))
    }
  })

  it('takes TLS that fails (EPROTO) for a store that is not there', async () => {
    const { port } = await startStore(GOOD)
    await expect(call(connect(`https://127.0.0.1:${port}`))).rejects.toMatchObject(unavailable(true))
  })

  it('gives up a call that takes longer than one may', async () => {
    const asked = await ask([HANGS], { startsCopy: true, requestTimeoutMs: 1000 })
    expect(asked).toMatchObject({ calls: 1, error: unavailable(true) })
  })

  it.each([
    ['under way', HANGS],
    ['in the middle of its answer', ((_, response) => void response.writeHead(200).write('{')) satisfies Answer],
  ])('is told to stop with the call %s: timed out, and in doubt', async (_, answer) => {
    const stop = new AbortController()
    const stopping: Answer = (request, response) => {
      answer(request, response)
      setTimeout(() => stop.abort(), 20)
    }
    expect(await ask([stopping], { signal: stop.signal })).toMatchObject({ calls: 1, error: timedOut(true) })
  })

  it('stops at once between two tries, and is not in doubt', async () => {
    const stop = new AbortController()
    time.beforePause = () => stop.abort()
    const asked = await ask([THROTTLED], { startsCopy: true, signal: stop.signal })
    expect(asked).toMatchObject({ calls: 1, error: unavailable(false) })
  })

  it('sends nothing once it is told to stop', async () => {
    expect(await ask([GOOD], { signal: AbortSignal.abort() })).toMatchObject({ calls: 0, error: timedOut(false) })
  })

  it.each([
    // However far off its clock is.
    ['ConditionalCheckFailedException', ahead()],
    ['AccessDeniedException', {}],
    ['ValidationException', {}],
  ])('lets %s pass untouched, at once', async (type, headers) => {
    expect(await ask([refusal(type, headers)])).toMatchObject({ calls: 1, error: { name: type } })
  })

  it('is in doubt about an opening that failed in a way nobody knows', async () => {
    const { client } = clientOf({ GetItemCommand: () => new Error('odd') })
    const inDoubt = { reason: 'internal_error', isUnanswered: true }
    await expect(call(client, { startsCopy: true })).rejects.toMatchObject(inDoubt)
    await expect(call(client)).rejects.toThrow('odd')
  })
})

describe('send with a clock that is off', () => {
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
    const refusing: Answer = (_, response) => void response.writeHead(403, ahead()).end()
    const s3 = await startScriptedS3({ 'HeadObject sandboxes': [refusing, object()] })
    stores.onStop(s3.stop)
    expect(await s3.store.findContainerFile('a.csv', AbortSignal.timeout(5000))).toBeDefined()
    expect(s3.calls()).toEqual(['HeadObject sandboxes', 'HeadObject sandboxes'])
  })

  it('sends again what was held up until its signature had expired', async () => {
    const message = 'Signature expired: 1 is now earlier than 2'
    const answers = [json(400, { __type: 'x#InvalidSignatureException', message }), GOOD]
    expect(await ask(answers, { startsCopy: true })).toEqual({ calls: 2, error: undefined })
  })

  it('sends again what S3 found signed at another time', async () => {
    const answers = [refused(403, 'RequestTimeTooSkewed'), {}]
    const { client, sent } = clientOf({ GetItemCommand: () => answers.shift() })
    await call(client)
    expect(sent).toHaveLength(2)
  })
})
