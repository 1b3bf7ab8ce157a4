import type { Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonLines, runAdmin, runAdminProcess } from '../support/local-service/admin.ts'
import { sharedService, type TestService } from '../support/local-service/services.ts'
import { type Fate, hinder, remainsOf } from '../support/local-service/trial.ts'

let service: TestService
const servers: Server[] = []

beforeAll(async () => {
  service = await sharedService()
})
afterAll(async () => {
  for (const server of servers) server.close()
  await service.stop()
})

const line = (args: string[]) => ['--local', '--directory', service.directory, 'load', ...args]
const load = (args: string[]) => runAdmin(line(args))
const remains = () => remainsOf('ws_load_', service)

async function through(fateOf: (number: number) => Fate | Promise<Fate>): Promise<string> {
  let number = 0
  const { origin, server } = await hinder(service.demo.base_url, () => fateOf(number++))
  servers.push(server)
  return `${origin}/v1`
}

describe('npm run admin -- load', () => {
  it('promotes at the rate that is asked for, and leaves nothing behind: exit code 0', async () => {
    const result = await load(['--rate', '12', '--duration', '1s', '--size', '1KiB', '--json'])
    expect([result.code, result.stderr]).toEqual([0, ''])
    const [report, ...more] = jsonLines(result)
    expect(more).toEqual([])
    const number = expect.any(Number)
    expect(report).toMatchObject({
      rate: 12,
      size_bytes: 1024,
      sent: 12,
      answers: { 200: 12 },
      not_sent: 0,
      latency_ms: { p50: number, p90: number, p99: number, max: number },
      documents: 12,
      findings: 0,
      left: [],
    })
    expect(await remains()).toEqual([])
  })

  it('tells people latency, answers by status and reason, and what is wrong: exit code 1', async () => {
    const throttled = JSON.stringify({ error: { metadata: { reason: 'rate_limited' } } })
    const baseUrl = await through((number) => {
      if (number < 2) return { status: 429, contentType: 'application/json', body: throttled }
      return number === 2 ? { status: 502, contentType: 'text/plain', body: '' } : 'pass'
    })
    const { code, stdout } = await load(['--rate', '5', '--duration', '1s', '--size', '1', '--base-url', baseUrl])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^promotions {4}5 of 1 B in \d+\.\d s, \d+\.\d a second$/m)
    expect(stdout).toMatch(/^latency {7}p50 \d+ ms, p90 \d+ ms, p99 \d+ ms, max \d+ ms$/m)
    for (const line of ['200: 2', '429 rate_limited: 2', '502: 1']) expect(stdout).toContain(`answered      ${line}\n`)
    expect(stdout).toMatch(/^audit {9}2 documents, nothing is wrong$/m)
    expect(stdout).toMatch(/^removed {7}all that was made$/m)
    expect(await remains()).toEqual([])
  })

  it('goes on at its rate while nothing is answered, and counts what broke', async () => {
    const all = Promise.withResolvers<void>()
    const baseUrl = await through(async (number): Promise<Fate> => {
      if (number === 9) all.resolve()
      // The first answer comes when all have been sent.
      if (number === 0) await all.promise
      return 'pass'
    })
    const [report] = jsonLines(
      await load(['--rate', '10', '--duration', '1s', '--size', '1', '--base-url', baseUrl, '--json']),
    )
    expect(report).toMatchObject({ sent: 10, answers: { 200: 10 }, documents: 10 })
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
    const nobody = await load(['--rate', '2', '--duration', '1s', '--size', '1', '--base-url', baseUrl, '--json'])
    expect(nobody.code).toBe(1)
    expect(jsonLines(nobody)).toMatchObject([{ sent: 2, answers: { none: 2 }, documents: 0 }])
  })

  it('clears up after Ctrl-C in the middle: exit code 2', async () => {
    const inTheMiddle = Promise.withResolvers<void>()
    const baseUrl = await through(() => {
      inTheMiddle.resolve()
      return 'pass'
    })
    const args = line(['--rate', '2', '--duration', '5m', '--size', '1', '--base-url', baseUrl])
    const result = await runAdminProcess(args, {}, inTheMiddle.promise)
    expect([result.code, result.stderr]).toEqual([2, 'Stopped by SIGINT.\n'])
    expect(await remains()).toEqual([])
  })

  it.each([
    [['--rate', '201'], '"201" is not allowed: 1 to 200 a second'],
    [['--rate', '0'], '"0" is not allowed: 1 to 200 a second'],
    [['--rate', '1.5'], '"1.5" is not allowed'],
    [['--duration', '11m'], '"11m" is not allowed: at most 10m'],
    [['--size', '1GiB'], '"1GiB" is not allowed: 1 byte to 64MiB'],
  ])('is bounded: %s is refused', async (args, why) => {
    const result = await load(args)
    expect([result.code, result.stderr]).toEqual([2, expect.stringContaining(why)])
    expect(await remains()).toEqual([])
  })
})
