import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { auditAtLast, promote, storesOf, stormyWorkspace, useStormyService } from '../support/local-service/storm.ts'

const [SIZE, ROOM, CLIENTS, KEYS] = [1000, 60, 200, 4]
const service = useStormyService()

it(`${CLIENTS} parallel clients fill a quota exactly`, { timeout: 600_000 }, async () => {
  const { demo, directory } = service()
  const quotaBytes = SIZE * ROOM
  const bytes = Buffer.alloc(SIZE, 7)
  const { workspaceId, tokens } = await stormyWorkspace(service(), { quotaBytes, keys: KEYS, bytes })
  // On a busy machine some are told to come back, and do.
  const untilThrough = async (token: string): ReturnType<typeof promote> => {
    const answer = await promote(demo.base_url, token)
    if (answer?.status !== 429 && answer?.status !== 503) return answer
    await sleep(1000 + 4000 * Math.random())
    return untilThrough(token)
  }
  const answers = await Promise.all(Array.from({ length: CLIENTS }, (_, i) => untilThrough(tokens[i % KEYS] ?? '')))
  const count = (status: number) => answers.filter((answer) => answer?.status === status).length
  expect([count(200), count(403)]).toEqual([ROOM, CLIENTS - ROOM])
  const stores = await storesOf(directory)
  const { findings, report } = await auditAtLast(stores, workspaceId)
  expect(findings).toEqual([])
  expect(report).toMatchObject({ documents: ROOM, documentBytes: quotaBytes })
  const usage = await stores.ledger.usage(workspaceId, AbortSignal.timeout(60_000))
  expect(usage).toEqual({ quotaBytes, usedBytes: quotaBytes })
})
