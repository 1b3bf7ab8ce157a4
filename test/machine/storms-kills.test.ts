import { expect, it } from 'vitest'
import type { DocumentId } from '../../lib/ids.ts'
import { useService } from '../support/machine/services.ts'
import {
  auditAtLast,
  expireLater,
  list,
  promote,
  remove,
  resolveLater,
  storesOf,
  stormyWorkspace,
} from '../support/machine/storm.ts'

const KILLS = Number(process.env.STORM_KILLS ?? 6)
const CLIENTS = 12
const MINUTE_MS = 60_000
const BYTES = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251))
const service = useService()

/** The clients remember what they were told, and what they asked for. */
function createClients(baseUrl: string) {
  const seen: string[] = []
  const idOfKey = new Map<string, string>()
  const deletable: string[] = []
  const expiring = new Set<string>()
  const toBeDeleted = new Set<string>()
  const deleted = new Set<string>()
  const counts = { answers: 0, underWay: 0, lists: 0, crashes: 0, unkeyed: 0 }
  let waiting: { answers: number; resolve(): void } | undefined

  /** 500 is what the gateway answers for a function that was killed. */
  const expectRefusal = (status: number) => {
    if (status === 500) counts.crashes++
    else expect([429, 503]).toContain(status)
  }
  const promoteOne = async (token: string, key: string | undefined): Promise<void> => {
    const expires = key === undefined && ++counts.unkeyed % 2 === 0
    const headers = { ...(key && { 'idempotency-key': key }), ...(expires && { 'file-expires-in': '3600' }) }
    const answer = await promote(baseUrl, token, headers)
    if (answer === undefined) return
    if (answer.id !== undefined && expires) expiring.add(answer.id)
    if (answer.id === undefined) return expectRefusal(answer.status)
    seen.push(answer.id)
    if (key === undefined) deletable.push(answer.id)
    else {
      expect(idOfKey.get(key) ?? answer.id).toBe(answer.id)
      idOfKey.set(key, answer.id)
    }
  }
  const deleteOne = async (token: string, id: string): Promise<void> => {
    toBeDeleted.add(id)
    const status = await remove(baseUrl, token, id)
    if (status === 200) deleted.add(id)
    else if (status !== undefined) expectRefusal(status)
  }
  const checkList = async (token: string): Promise<void> => {
    const [gone, kept] = [[...deleted], seen.filter((id) => !toBeDeleted.has(id))]
    const listed = await list(baseUrl, token)
    if (listed === undefined) return
    counts.lists++
    expect(gone.filter((id) => listed.includes(id))).toEqual([])
    expect(kept.filter((id) => !listed.includes(id) && !toBeDeleted.has(id))).toEqual([])
  }

  return {
    seen,
    expiring,
    toBeDeleted,
    deleted,
    counts,
    deleteOne,
    checkList,
    /** Resolves when so many more requests are answered. */
    async answered(more: number): Promise<void> {
      await new Promise<void>((resolve) => {
        waiting = { answers: counts.answers + more, resolve }
      })
    },
    /** @param newKey names an Idempotency-Key for the number of a request */
    async run(token: string, first: number, newKey: (i: number) => string, isTimeUp: () => boolean): Promise<void> {
      for (let i = 0; !isTimeUp(); i++) {
        const turn = (first + i) % 4
        const id = turn === 2 ? deletable.shift() : undefined
        counts.underWay++
        if (turn === 3) await checkList(token)
        else if (id !== undefined) await deleteOne(token, id)
        else await promoteOne(token, turn === 0 ? newKey(i) : undefined)
        counts.underWay--
        if (++counts.answers === waiting?.answers) waiting.resolve()
      }
    },
  }
}

it(`every promise is kept while the functions are killed in the middle of promotions, deletions and lists, ${KILLS} times`, {
  timeout: 1_800_000,
}, async () => {
  const { demo, directory, s3, functions } = service()
  const stores = await storesOf(directory)
  // Twice as many keys as clients, so that no rate limit stands in the way.
  const room = { quotaBytes: 10 ** 10, keys: 2 * CLIENTS, bytes: BYTES }
  const { workspaceId, tokens } = await stormyWorkspace(service(), stores, room)
  const clients = createClients(demo.base_url)
  const { seen, expiring, toBeDeleted, deleted, counts } = clients
  let cutOff = 0

  for (let kill = 0; kill < KILLS; kill++) {
    let isTimeUp = false
    // Every Idempotency-Key is used by two loads: after an answer that was lost, too.
    const pair = Math.floor(kill / 2)
    const running = Array.from({ length: CLIENTS }, (_, client) => {
      const token = tokens[client + CLIENTS * (pair % 2)] ?? ''
      const newKey = (i: number) => `client-${client}-${pair}-${i}`
      return clients.run(token, client, newKey, () => isTimeUp)
    })
    await Promise.race([clients.answered(4 * CLIENTS + 5 * kill), Promise.all(running)])
    cutOff += counts.underWay
    isTimeUp = true
    await functions.stop()
    await Promise.all(running)
    // When all leases have ended, and the last run of the resolver as well.
    await resolveLater(stores, (kill + 1) * (stores.config.leaseMs + MINUTE_MS))
    await functions.restart()
  }
  expect(seen.length).toBeGreaterThan(KILLS)
  expect(counts.crashes).toBeLessThanOrEqual(cutOff)
  expect(Math.min(cutOff, deleted.size, counts.lists)).toBeGreaterThan(0)
  // Deletions whose answers were lost, once more: they may be half done, done, or not begun.
  for (const id of toBeDeleted) if (!deleted.has(id)) await clients.deleteOne(tokens[0] ?? '', id)
  await clients.checkList(tokens[1] ?? '')

  const isKept = (id: string) => !toBeDeleted.has(id)
  const expired = [...expiring].filter(isKept)
  const run = await expireLater(stores, 61 * MINUTE_MS)
  expect(run).toMatchObject({ failed: 0, unlisted: 0, oldestMs: 0 })
  // Others expired whose promotions were not answered.
  expect(run.freed).toBeGreaterThanOrEqual(Math.max(1, expired.length))
  for (const id of expired) deleted.add(id)
  const { findings, report } = await auditAtLast(stores, workspaceId)
  expect(findings).toEqual([])
  const kept = new Set(seen.filter((id) => isKept(id) && !expiring.has(id)))
  expect(report.documents).toBeGreaterThanOrEqual(kept.size)
  const find = async (id: string) => {
    const item = await stores.documents.find({ workspaceId, documentId: id as DocumentId }, AbortSignal.timeout(60_000))
    return item?.state === 'ready' ? item : undefined
  }
  for (const id of deleted) expect(await find(id)).toBe(undefined)
  for (const id of kept) {
    const object = await s3.getObject({ Bucket: demo.documents_bucket, Key: (await find(id))?.objectKey })
    expect(Buffer.from((await object.Body?.transformToByteArray()) ?? []).equals(BYTES), id).toBe(true)
  }
  console.log(
    `storm: ${KILLS} kills, ${new Set(seen).size} documents answered with 200, ${deleted.size} deleted or expired, ${counts.lists} lists, ${report.documents} kept, ${cutOff} requests cut off`,
  )
})
