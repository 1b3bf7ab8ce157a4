import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { requestErasure } from '../../lib/administration/request-erasure.ts'
import { useService } from '../support/machine/services.ts'
import { auditAtLast, promote, remove, storesOf, stormyWorkspace } from '../support/machine/storm.ts'
import { newAttempt, pendingOf } from '../support/stores/ledger-values.ts'

const LEAVING = 12
const STAYING = 4
const CLIENTS = 12
const KILLS = 3
const HOUR_MS = 3_600_000
const signal = AbortSignal.timeout(600_000)
// The functions with a schedule are invoked all the time.
const service = useService(() => ({ everyMs: 300 }))

it('of twelve workspaces erased while twelve clients use them and functions are killed, nothing is left; others are exact', {
  timeout: 600_000,
}, async () => {
  const { demo, directory, functions, s3 } = service()
  const stores = await storesOf(directory)
  const room = { quotaBytes: 10 ** 9, keys: 2, bytes: Buffer.alloc(10_000, 1) }
  const make = () => stormyWorkspace(service(), stores, room)
  const all = await Promise.all(Array.from({ length: LEAVING + STAYING }, make))
  const [leaving, staying] = [all.slice(0, LEAVING), all.slice(LEAVING)]
  const deps = { ...stores, leastErasureSeconds: 0 }
  const promoted: { token: string; id: string }[] = []
  const statuses = new Map<number | undefined, number>()
  let [answers, isTimeUp] = [0, false]

  const oneOf = <Each>(each: readonly Each[]) => each[Math.floor(Math.random() * each.length)]
  /** One in five is deleted again, and a third is asked for twice. */
  const useWorkspaces = async (client: number) => {
    for (let i = 0; !isTimeUp; i++) {
      const token = oneOf(oneOf(all)?.tokens ?? []) ?? ''
      const last = i % 5 === 4 ? promoted.pop() : undefined
      const headers: Record<string, string> = i % 3 === 0 ? { 'idempotency-key': `${client}-${i - (i % 6)}` } : {}
      const answer = last ? undefined : await promote(demo.base_url, token, headers)
      const status = last ? await remove(demo.base_url, last.token, last.id) : answer?.status
      if (answer?.id) promoted.push({ token, id: answer.id })
      statuses.set(status, 1 + (statuses.get(status) ?? 0))
      answers++
    }
  }
  /** When nothing is under way any more, as twenty minutes later: the next look, or what a killed run had claimed. */
  const turnForward = async () => {
    for (const { workspaceId } of leaving) {
      const shown = (await stores.ledger.read(workspaceId, signal))?.erasure
      if (shown?.dueAtMs === undefined || shown.state === 'erased') continue
      await stores.erasures.change(workspaceId, { shown, to: { ...shown, dueAtMs: Date.now() } }, signal)
    }
  }
  const states = () =>
    Promise.all(leaving.map(async ({ workspaceId }) => (await stores.ledger.read(workspaceId, signal))?.erasure?.state))

  for (let kill = 0; kill < KILLS; kill++) {
    isTimeUp = false
    const before = answers
    const running = Array.from({ length: CLIENTS }, (_, client) => useWorkspaces(client))
    for (const { workspaceId } of leaving.slice(4 * kill, 4 * kill + 4)) {
      while (answers < before + 40) await sleep(10)
      await requestErasure(workspaceId, { afterSeconds: 0 }, deps, signal)
    }
    while (answers < before + 120) await sleep(10)
    isTimeUp = true
    await functions.stop()
    await Promise.all(running)
    await turnForward()
    await functions.restart()
  }
  for (let look = 0; look < 60 && (await states()).some((state) => state !== 'erased'); look++) {
    await sleep(500)
    if (look % 6 === 5) await turnForward()
  }
  expect(await states()).toEqual(Array(LEAVING).fill('erased'))

  for (const { workspaceId } of leaving) {
    const ledger = await stores.ledger.read(workspaceId, signal)
    expect(ledger).toMatchObject({ documents: 0, usedBytes: 0, holds: [], refunds: [] })
    expect(await Array.fromAsync(stores.apiKeys.list({ workspaceId }, signal))).toEqual([])
    expect(await Array.fromAsync(stores.documents.list(workspaceId, signal))).toEqual([])
    for (const [Bucket, room] of [
      [demo.documents_bucket, 'documents'],
      [demo.sandbox_bucket, 'sandboxes'],
    ] as const) {
      const Prefix = `${room}/${workspaceId}/`
      const { Versions = [], DeleteMarkers = [] } = await s3.listObjectVersions({ Bucket, Prefix })
      const { Uploads = [] } = await s3.listMultipartUploads({ Bucket, Prefix })
      expect([...Versions, ...DeleteMarkers, ...Uploads]).toEqual([])
    }
  }
  const events = (await readFile(join(directory, 'events.ndjson'), 'utf8')).trimEnd().split('\n')
  const ends = events.map((line) => JSON.parse(line)).filter((event) => event['detail-type'] === 'workspace.erased')
  const erased = new Set(ends.map(({ detail }) => detail.workspace_id))
  expect(erased).toEqual(new Set(leaving.map(({ workspaceId }) => workspaceId)))
  const audited = staying.map(async ({ workspaceId }) => {
    const { findings, report } = await auditAtLast(stores, workspaceId)
    expect(findings).toEqual([])
    return report.documents
  })
  expect(Math.min(...(await Promise.all(audited)))).toBeGreaterThan(0)
  // Closed, then without keys: both were met.
  expect([statuses.get(403), statuses.get(401)]).toEqual([expect.any(Number), expect.any(Number)])
  console.log(`storm of erasures: ${answers} answers, ${KILLS} kills, statuses ${[...statuses].join(' ')}`)
})

it('the schedule of the resolver has what a process left behind undone: its bytes are free again', async () => {
  const { documents, ledger } = await storesOf(service().directory)
  const attempt = newAttempt({ workspaceId: service().newWorkspaceId(), leaseEndsAtMs: Date.now() - HOUR_MS })
  await documents.begin(pendingOf(attempt), undefined, signal)
  await ledger.hold(attempt, signal, 0)
  const read = () => ledger.read(attempt.workspaceId, signal)
  expect(await read()).toMatchObject({ usedBytes: attempt.sizeBytes })
  await vi.waitFor(async () => expect(await read()).toMatchObject({ usedBytes: 0, holds: [] }), {
    timeout: 120_000,
  })
})
