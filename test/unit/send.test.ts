import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { HeadObjectCommand } from '@aws-sdk/client-s3'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createDynamoDbClient, createS3Client } from '../../lib/aws/clients.ts'
import { OPENING, type SendOptions, send } from '../../lib/aws/send.ts'
import { skipWaits } from '../support/virtual-waits.ts'

const time = skipWaits()

/** What the store does with one request. */
type Answer = RequestListener

const json = (status: number, body: object, headers: Record<string, string> = {}): Answer => {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0', ...headers })
    response.end(JSON.stringify(body))
  }
}
const refusal = (type: string, headers = {}): Answer =>
  json(400, { __type: `com.amazonaws#${type}`, message: type }, headers)
const GOOD = json(200, {})
const THROTTLED = refusal('ProvisionedThroughputExceededException')
const FAILED = json(500, { __type: 'InternalServerError' })
const BROKEN: Answer = (_, response) => void response.destroy()
const NO_HTTP: Answer = (_, response) => void response.socket?.end('no HTTP\r\n\r\n')
const CUT_OFF: Answer = (_, response) => {
  response.writeHead(200, { 'content-length': '100' }).write('{"Item":')
  setTimeout(() => response.destroy(), 20)
}
const UNREADABLE: Answer = (_, response) => void response.writeHead(200).end('<html>')
const HANGS: Answer = () => {}

const stopping: (() => void)[] = []
afterEach(() => {
  for (const stop of stopping.splice(0)) stop()
})

/** A DynamoDB that gives these answers, the last one for ever. */
async function startStore(...answers: Answer[]) {
  let calls = 0
  const server = createServer((request, response) => {
    const answer = answers[Math.min(calls++, answers.length - 1)]
    request.resume().on('end', () => answer?.(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stopping.push(
    () => server.close(),
    () => server.closeAllConnections(),
  )
  const client = clientOf(`http://127.0.0.1:${portOf(server)}`)
  return { call: (options?: Partial<SendOptions>) => call(client, options), calls: () => calls, port: portOf(server) }
}

function clientOf(endpoint: string): DynamoDBClient {
  const client = createDynamoDbClient({ endpoint, region: 'us-east-1', credentials: CREDENTIALS })
  stopping.push(() => client.destroy())
  return client
}

const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' }
const portOf = (server: Server) => (server.address() as AddressInfo).port
const call = (client: DynamoDBClient, options: Partial<SendOptions> = {}) =>
  send(client, new GetItemCommand({ TableName: 't', Key: { k: { S: 'k' } } }), {
    name: 'ledger.read',
    signal: AbortSignal.timeout(10_000),
    ...options,
  })
const unavailable = (isUnanswered: boolean) => ({ reason: 'service_unavailable', isUnanswered })

describe('send', () => {
  it('tells who listens of each call, by its name, once for all tries', async () => {
    const told: unknown[] = []
    const listen = (message: unknown) => void told.push(message)
    subscribe('container-file-promotion:aws-call', listen)
    const { call, calls } = await startStore(FAILED, GOOD)
    await call().finally(() => unsubscribe('container-file-promotion:aws-call', listen))
    expect(calls()).toBe(2)
    expect(told).toEqual([{ name: 'ledger.read', command: expect.any(GetItemCommand) }])
  })

  it('names the call that failed in its error, for the log', async () => {
    const { call } = await startStore(refusal('AccessDeniedException'))
    await expect(call()).rejects.toMatchObject({ name: 'AccessDeniedException', call: 'ledger.read' })
    const { call: callFailing } = await startStore(FAILED)
    await expect(callFailing()).rejects.toMatchObject({ cause: { call: 'ledger.read' } })
  })

  it.each([
    ['is throttled', THROTTLED],
    ['fails inside', FAILED],
  ])('sends again what %s, whether it opens something or not: it was answered', async (_, answer) => {
    for (const opens of [true, false]) {
      const store = await startStore(answer, answer, GOOD)
      await store.call({ opens })
      expect(store.calls()).toBe(3)
    }
  })

  it.each([
    ['breaks', BROKEN],
    ['brings no HTTP (HPE_…)', NO_HTTP],
    ['ends in the middle of an answer', CUT_OFF],
    ['brings a success that nobody can read', UNREADABLE],
  ])('when the connection %s, sends again what reads or closes, and never what opens', async (_, answer) => {
    const [reading, opening] = [await startStore(answer, GOOD), await startStore(answer, GOOD)]
    await reading.call()
    expect(reading.calls()).toBe(2)
    await expect(opening.call({ opens: true })).rejects.toMatchObject(unavailable(true))
    expect(opening.calls()).toBe(1)
  })

  it('tells after three tries that the store is not there', async () => {
    const store = await startStore(BROKEN)
    await expect(store.call()).rejects.toMatchObject(unavailable(true))
    expect(store.calls()).toBe(3)
  })

  it('is not in doubt about what was answered with an error, three times', async () => {
    const store = await startStore(FAILED)
    await expect(store.call({ opens: true })).rejects.toMatchObject(unavailable(false))
    expect(store.calls()).toBe(3)
  })

  it('is in doubt when the second try was never answered', async () => {
    const store = await startStore(FAILED, BROKEN)
    await expect(store.call({ opens: true })).rejects.toMatchObject(unavailable(true))
    expect(store.calls()).toBe(2)
  })

  it('tries what is throttled for as long as its patience, and no failure before counts against that', async () => {
    const store = await startStore(FAILED, FAILED, THROTTLED)
    await expect(store.call({ opens: true, patienceMs: 1500 })).rejects.toMatchObject(unavailable(false))
    expect(store.calls()).toBe(time.pausesMs.length + 1)
    const waitedMs = time.pausesMs.reduce((sum, ms) => sum + ms, 0)
    // Another pause, of 400 ms at most, would have been longer than that.
    expect([waitedMs > 1000, waitedMs < 1500]).toEqual([true, true])
  })

  it.each([
    [undefined, [30, 60, 120, 240, 400, 400]],
    [1000, [30, 60, 120, 240, 480, 960, 1000]],
  ])('waits longer each time, up to %s ms, by chance from half of that', async (longestPauseMs, longest) => {
    const store = await startStore(...longest.map(() => THROTTLED), GOOD)
    await store.call({ patienceMs: 10_000, ...(longestPauseMs && { longestPauseMs }) })
    expect(time.pausesMs.map((ms, index) => ms >= (longest[index] ?? 0) / 2 && ms <= (longest[index] ?? 0))).toEqual(
      longest.map(() => true),
    )
    expect(new Set(time.pausesMs).size).toBe(longest.length)
  })

  it('counts no throttling against the tries that a failing store has', async () => {
    const store = await startStore(THROTTLED, THROTTLED, THROTTLED, THROTTLED, FAILED, GOOD)
    await store.call({ patienceMs: 5000 })
    expect(store.calls()).toBe(6)
  })

  it('sends an opening again whose connection did not come about in time: it never left', async () => {
    const timedOut = Object.assign(new Error('the request socket did not establish a connection with the server'), {
      name: 'TimeoutError',
    })
    const sending = vi.fn().mockRejectedValueOnce(timedOut).mockResolvedValueOnce({ $metadata: {} })
    const client = { send: sending } as never
    await send(client, {} as never, { name: 'a call', signal: new AbortController().signal, ...OPENING })
    expect(sending).toHaveBeenCalledTimes(2)
  })

  it('takes a connection that was never made for an answer: the store has not seen the call', async () => {
    const store = await startStore(GOOD)
    for (const stop of stopping.splice(0).reverse()) stop()
    await expect(call(clientOf(`http://127.0.0.1:${store.port}`), { opens: true })).rejects.toMatchObject(
      unavailable(false),
    )
    await expect(call(clientOf('http://no-such-host.invalid'), { opens: true })).rejects.toMatchObject(
      unavailable(false),
    )
  })

  it('takes TLS that fails (EPROTO) for a store that is not there', async () => {
    const { port } = await startStore(GOOD)
    await expect(call(clientOf(`https://127.0.0.1:${port}`))).rejects.toMatchObject(unavailable(true))
  })

  it('gives up a call that takes longer than one may', async () => {
    const store = await startStore(HANGS)
    await expect(store.call({ opens: true, requestTimeoutMs: 200 })).rejects.toMatchObject(unavailable(true))
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
    await expect(store.call({ opens: true, signal: stop.signal })).rejects.toMatchObject(unavailable(false))
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
    await expect(call(client, { opens: true })).rejects.toMatchObject({ reason: 'internal_error', isUnanswered: true })
    await expect(call(client)).rejects.toThrow('odd')
  })
})

describe('send with a clock that is off', () => {
  const ahead = () => ({ date: new Date(Date.now() + 600_000).toUTCString() })

  it('sends what was refused for it again, by the time that the store told', async () => {
    const dates: string[] = []
    const noting =
      (answer: Answer): Answer =>
      (request, response) => {
        dates.push(String(request.headers['x-amz-date']))
        answer(request, response)
      }
    const store = await startStore(noting(refusal('InvalidSignatureException', ahead())), noting(GOOD))
    await store.call({ opens: true })
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
    stopping.push(
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
    await store.call({ opens: true })
    expect(store.calls()).toBe(2)
  })

  it('takes no refused condition for a store in trouble', async () => {
    const store = await startStore(refusal('ConditionalCheckFailedException', ahead()))
    await expect(store.call()).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' })
    expect(store.calls()).toBe(1)
  })
})
