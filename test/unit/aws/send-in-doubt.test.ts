import { describe, expect, it, vi } from 'vitest'
import { SENT_ONCE, send } from '../../../lib/aws/send.ts'
import {
  type Answer,
  call,
  GOOD,
  HANGS,
  refusal,
  THROTTLED,
  unavailable,
  useAnsweringStores,
} from '../../support/stores/answering-stores.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

const time = skipWaits()
const stores = useAnsweringStores()
const { startStore, clientOf } = stores

describe('send, whose call may be under way', () => {
  it('sends an opening again when its connection was not established in time: it never left', async () => {
    const timedOut = Object.assign(new Error('the request socket did not establish a connection with the server'), {
      name: 'TimeoutError',
    })
    const sending = vi.fn().mockRejectedValueOnce(timedOut).mockResolvedValueOnce({ $metadata: {} })
    const client = { send: sending } as never
    await send(client, {} as never, { name: 'a call', signal: new AbortController().signal, ...SENT_ONCE })
    expect(sending).toHaveBeenCalledTimes(2)
  })

  it('treats S3’s RequestTimeout as an outage, and other refusals as refusals', async () => {
    const failing = (name: string) => ({
      send: vi.fn().mockRejectedValue(Object.assign(new Error(name), { name, $metadata: { httpStatusCode: 400 } })),
    })
    const once = { name: 'a call', signal: new AbortController().signal, tries: 1 }
    await expect(send(failing('RequestTimeout') as never, {} as never, once)).rejects.toMatchObject({
      reason: 'service_unavailable',
    })
    await expect(send(failing('InvalidRequest') as never, {} as never, once)).rejects.toMatchObject({
      name: 'InvalidRequest',
    })
  })

  it('takes a connection that was never made for an answer: the store has not seen the call', async () => {
    const store = await startStore(GOOD)
    stores.stopAll()
    await expect(call(clientOf(`http://127.0.0.1:${store.port}`), { startsCopy: true })).rejects.toMatchObject(
      unavailable(false),
    )
    await expect(call(clientOf('http://no-such-host.invalid'), { startsCopy: true })).rejects.toMatchObject(
      unavailable(false),
    )
  })

  it('takes TLS that fails (EPROTO) for a store that is not there', async () => {
    const { port } = await startStore(GOOD)
    await expect(call(clientOf(`https://127.0.0.1:${port}`))).rejects.toMatchObject(unavailable(true))
  })

  it('gives up a call that takes longer than one may', async () => {
    const store = await startStore(HANGS)
    await expect(store.call({ startsCopy: true, requestTimeoutMs: 200 })).rejects.toMatchObject(unavailable(true))
    expect(store.calls()).toBe(1)
  })

  it.each([
    ['under way', HANGS],
    ['in the middle of its answer', ((_, response) => void response.writeHead(200).write('{')) satisfies Answer],
  ])('is told to stop with the call %s: timed out, and in doubt', async (_, answer) => {
    const stop = new AbortController()
    const store = await startStore((request, response) => {
      answer(request, response)
      setTimeout(() => stop.abort(), 20)
    })
    await expect(store.call({ signal: stop.signal })).rejects.toMatchObject({
      reason: 'promotion_timed_out',
      isUnanswered: true,
    })
    expect(store.calls()).toBe(1)
  })

  it('stops at once between two tries, and is not in doubt', async () => {
    const stop = new AbortController()
    const store = await startStore(THROTTLED)
    time.beforePause = () => stop.abort()
    await expect(store.call({ startsCopy: true, signal: stop.signal })).rejects.toMatchObject(unavailable(false))
    expect(store.calls()).toBe(1)
  })

  it('sends nothing once it is told to stop', async () => {
    const store = await startStore(GOOD)
    await expect(store.call({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      reason: 'promotion_timed_out',
      isUnanswered: false,
    })
    expect(store.calls()).toBe(0)
  })

  it.each(['ConditionalCheckFailedException', 'AccessDeniedException', 'ValidationException'])(
    'lets %s pass untouched, at once',
    async (type) => {
      const store = await startStore(refusal(type))
      await expect(store.call()).rejects.toMatchObject({ name: type })
      expect(store.calls()).toBe(1)
    },
  )

  it('is in doubt about an opening that failed in a way nobody knows', async () => {
    const client = clientOf('http://127.0.0.1:1')
    client.middlewareStack.add(() => () => Promise.reject(new Error('odd')), {
      step: 'finalizeRequest',
      priority: 'low',
    })
    await expect(call(client, { startsCopy: true })).rejects.toMatchObject({
      reason: 'internal_error',
      isUnanswered: true,
    })
    await expect(call(client)).rejects.toThrow('odd')
  })
})
