import { afterEach, describe, expect, it, vi } from 'vitest'
import { checkShardOf } from '../../../lib/aws/dynamodb/workspace-item.ts'
import type { DocumentId, WorkspaceId } from '../../../lib/ids.ts'
import { expireDocuments } from '../../../lib/ledger/expire-documents.ts'
import type { DocumentOfAttempt, WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import { UnreadableItemError } from '../../../lib/ledger/ports/unreadable-item.ts'
import { createPorts, LEASE_MS, NOTHING, ONE_DOCUMENT, type Ports, WORKSPACE } from '../../support/ports.ts'
import { nth, resolve } from '../../support/unit/resolver-runs.ts'

const QUIET = { expired: 0, failed: 0, unlisted: 0, oldestMs: 0 }
const RUN_MS = 55_000
/** The shard of workspaces 1, 4, 5 and 28; that of 2 is 7. */
const SHARD = 14
const NOT_DELETED = 'expired document not deleted, left to a later run'
const { signal } = new AbortController()

afterEach(() => vi.restoreAllMocks())

async function addExpiring(ports: Ports, workspaceId: WorkspaceId, expiresAtMs: number): Promise<WorkspaceDocument> {
  const document = { ...(await ports.addDocument(ports.begin({ workspaceId }))), expiresAt: new Date(expiresAtMs) }
  ports.documents.documents.set(`${workspaceId}/${document.documentId}`, document)
  return document
}

/** Documents of 100 bytes in these workspaces, which expire one ms after the other, the last one now. */
async function addExpired(ports: Ports, workspaces: number[]): Promise<WorkspaceDocument[]> {
  const added: WorkspaceDocument[] = []
  for (const [index, n] of workspaces.entries()) {
    added.push(await addExpiring(ports, nth(n), ports.clock.nowMs + index + 1 - workspaces.length))
  }
  return added
}

function expire(
  { deps, clock }: Ports,
  change: { signal?: AbortSignal; shards?: number[]; timeoutEachMs?: number } = {},
) {
  const { signal: runSignal = signal, ...run } = change
  return expireDocuments({ timeoutEachMs: 1000, endsAtMs: clock.nowMs + RUN_MS, ...run }, deps, runSignal)
}

/** Has each reading of a document do this first. */
function whenRead(ports: Ports, act: (documentId: string, workspaceId: string) => unknown) {
  const find = ports.documents.find.bind(ports.documents)
  vi.spyOn(ports.documents, 'find').mockImplementation(async (workspaceId, documentId, ...rest) => {
    await act(documentId, workspaceId)
    return find(workspaceId, documentId, ...rest)
  })
}

/** Has each deletion do this first. */
function whenDeleted(ports: Ports, act: (document: DocumentOfAttempt, deleteSignal: AbortSignal) => unknown) {
  const remove = ports.documents.delete.bind(ports.documents)
  vi.spyOn(ports.documents, 'delete').mockImplementation(async (document, deleteSignal, ...rest) => {
    await act(document, deleteSignal)
    return remove(document, deleteSignal, ...rest)
  })
}

const idsOf = (documents: WorkspaceDocument[]) => documents.map(({ documentId }) => documentId)
const times = (count: number, n: number) => Array.from({ length: count }, () => n)
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((done) => setImmediate(done))
}

describe('expireDocuments', () => {
  it('deletes what has expired, with object and bytes, and nothing else', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const later = await addExpiring(ports, WORKSPACE, ports.clock.nowMs + 1)
    await addExpired(ports, [1, 2])
    expect(await expire(ports)).toEqual({ ...QUIET, expired: 2 })
    expect(ports.state(nth(2))).toEqual(NOTHING)
    expect(ports.state()).toEqual({ ...ONE_DOCUMENT, used: 200, documents: 2, objects: 2 })
    const calls = [vi.spyOn(ports.deps.expiries, 'listExpired'), vi.spyOn(ports.documents, 'find')]
    expect(await expire(ports)).toEqual(QUIET)
    expect(calls.map(({ mock }) => mock.calls.length)).toEqual([16, 0])
    ports.pass(1)
    expect(await expire(ports)).toEqual({ ...QUIET, expired: 1 })
    expect(ports.state()).toEqual(ONE_DOCUMENT)
    const found = await ports.documents.findEvenDeleted(WORKSPACE, later.documentId, signal)
    expect(found).toMatchObject({ isExpired: true, isGivenBack: true })
  })

  it('looks at the shards it is given only, each oldest first', async () => {
    const ports = createPorts({ defaultQuotaBytes: 10_000 })
    const added = await addExpired(ports, [...times(3, 4), 1, 2, ...times(40, 28), ...times(3, 5)])
    const read: string[] = []
    whenRead(ports, (documentId) => read.push(documentId))
    expect(await expire(ports, { shards: [SHARD] })).toEqual({ ...QUIET, expired: 47 })
    expect(ports.state(nth(2))).toEqual(ONE_DOCUMENT)
    for (const n of [1, 4, 28, 5]) {
      const own = idsOf(added.filter(({ workspaceId }) => workspaceId === nth(n)))
      expect(read.filter((id) => own.includes(id as never))).toEqual(own)
    }
    // Eight at once of the full workspace: the others need not wait for the rest.
    const first = idsOf([...added.slice(0, 4), ...added.slice(5, 13), ...added.slice(45)])
    expect(read.slice(0, 15).toSorted()).toEqual(first.toSorted())
  })

  it('gives each workspace its turn, however many documents of others expired before its own', async () => {
    const ports = createPorts()
    const inShard = Array.from({ length: 400 }, (_, n) => n).filter((n) => checkShardOf(nth(n)) === String(SHARD))
    const [small = 0, ...large] = inShard.slice(0, 10)
    const [last] = (await addExpired(ports, [small])) as [WorkspaceDocument]
    const expiresAt = new Date(ports.clock.nowMs)
    vi.spyOn(ports.deps.expiries, 'listExpired').mockImplementation(async function* () {
      // The index is behind: these documents are gone. So many pages that the large ones take all places.
      for (let page = 0; page < 10; page++) {
        const documents = large.flatMap((n) => Array.from({ length: 40 }, (_, of) => `file_${n}_${page}_${of}`))
        yield documents.map((id, at) => {
          const workspaceId = nth(large[Math.floor(at / 40)] ?? 0)
          return { workspaceId, documentId: id as DocumentId, expiresAt }
        })
      }
      yield [{ ...last, expiresAt }]
    })
    const read: string[] = []
    whenRead(ports, async (documentId) => {
      read.push(documentId)
      await turns(1)
    })
    expect(await expire(ports, { shards: [SHARD] })).toEqual({ ...QUIET, expired: 1 })
    expect(read).toHaveLength(3601)
    // Each of the 64 places is free again after a turn of ten documents.
    expect(read.indexOf(last.documentId)).toBeGreaterThan(64)
    expect(read.indexOf(last.documentId)).toBeLessThan(1000)
  })

  it('works on some at once, and on few of one workspace', async () => {
    const ports = createPorts({ defaultQuotaBytes: 100_000 })
    await addExpired(ports, [...times(100, 1), ...Array.from({ length: 200 }, (_, n) => n)])
    const now = { all: 0, own: 0 }
    const most = { all: 0, own: 0 }
    whenRead(ports, async (_, workspaceId) => {
      const isOwn = workspaceId === nth(1) ? 1 : 0
      most.all = Math.max(most.all, ++now.all)
      now.own += isOwn
      most.own = Math.max(most.own, now.own)
      await turns(3)
      now.all--
      now.own -= isOwn
    })
    const { expired } = await expire(ports, { shards: [SHARD] })
    expect(most.own).toBe(8)
    expect(await expire(ports)).toEqual({ ...QUIET, expired: 300 - expired })
    expect([most.all > 32, most.all <= 64]).toEqual([true, true])
  })

  it('comes back to a workspace that is on a later page, too', async () => {
    const ports = createPorts({ defaultQuotaBytes: 10_000 })
    const added = await addExpired(ports, times(40, 1))
    vi.spyOn(ports.deps.expiries, 'listExpired').mockImplementation(async function* () {
      for (const page of [added.slice(0, 20), added.slice(20)]) {
        yield page.map((document) => ({ ...document, expiresAt: document.expiresAt as Date }))
        await turns(100)
      }
    })
    expect(await expire(ports, { shards: [SHARD] })).toEqual({ ...QUIET, expired: 40 })
  })

  it('leaves more of a workspace than a run gets to, and says so', async () => {
    const ports = createPorts()
    const [other] = (await addExpired(ports, [4])) as [WorkspaceDocument]
    vi.spyOn(ports.deps.expiries, 'listExpired').mockImplementation(async function* () {
      const many = times(6000, 1).map((n, index) => ({
        workspaceId: nth(n),
        documentId: `file_${index}` as DocumentId,
        expiresAt: new Date(ports.clock.nowMs - 10_000 + index),
      }))
      yield [...many, { ...other, expiresAt: new Date(ports.clock.nowMs) }]
    })
    whenRead(ports, () => turns(1))
    // The index is behind: these documents are gone.
    expect(await expire(ports, { shards: [SHARD] })).toEqual({ ...QUIET, expired: 1, oldestMs: 10_000 - 5000 })
    expect(ports.documents.find).toHaveBeenCalledTimes(5001)
  })

  it('passes by what the index still names and is not to be deleted any more', async () => {
    const ports = createPorts()
    const [prolonged, deleted, gone, kept] = await addExpired(ports, [1, 1, 1, 1])
    const list = ports.deps.expiries.listExpired
    vi.spyOn(ports.deps.expiries, 'listExpired').mockImplementation(async function* (...args) {
      for await (const page of list(...args)) {
        ports.documents.documents.set(`ws_1/${prolonged?.documentId}`, {
          ...(prolonged as WorkspaceDocument),
          expiresAt: new Date(ports.clock.nowMs + 1),
        })
        await ports.documents.delete(deleted as WorkspaceDocument, signal)
        ports.documents.documents.delete(`ws_1/${gone?.documentId}`)
        yield page
      }
    })
    const schedule = vi.spyOn(ports.ledger, 'schedule')
    expect(await expire(ports)).toEqual({ ...QUIET, expired: 1 })
    expect(schedule).toHaveBeenCalledTimes(1)
    expect(await ports.documents.find(WORKSPACE, (kept as WorkspaceDocument).documentId, signal)).toBeUndefined()
    expect(await ports.documents.find(WORKSPACE, (prolonged as WorkspaceDocument).documentId, signal)).toBeDefined()
  })

  it('keeps a document that is prolonged between its reading and its deletion', async () => {
    const ports = createPorts()
    const [document] = (await addExpired(ports, [1])) as [WorkspaceDocument]
    whenDeleted(ports, () =>
      ports.documents.documents.set(`ws_1/${document.documentId}`, { ...document, expiresAt: undefined }),
    )
    expect(await expire(ports)).toEqual(QUIET)
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it('leaves what cannot be read to later runs, and does all others', async () => {
    const ports = createPorts({ defaultQuotaBytes: 10_000 })
    const added = await addExpired(ports, [...times(30, 1), ...times(5, 1)])
    const unreadable = idsOf(added.slice(0, 30))
    const error = new UnreadableItemError('no size')
    whenRead(ports, (documentId) => {
      if (unreadable.includes(documentId as never)) throw error
    })
    for (const expired of [5, 0]) expect(await expire(ports)).toEqual({ ...QUIET, expired, failed: 30, oldestMs: 34 })
    const fields = { workspace_id: 'ws_1', document_id: unreadable[0], error }
    expect(ports.logged).toContainEqual({ level: 'error', message: NOT_DELETED, ...fields })
  })

  it('leaves a workspace in which much fails to a later run', async () => {
    const ports = createPorts({ defaultQuotaBytes: 10_000 })
    await addExpired(ports, [...times(60, 1), 4, 4])
    whenDeleted(ports, ({ workspaceId }) => {
      if (workspaceId === nth(1)) throw new Error('down')
    })
    const report = await expire(ports)
    expect(report).toMatchObject({ expired: 2, oldestMs: 61 })
    expect([report.failed >= 20, report.failed < 28]).toEqual([true, true])
    vi.restoreAllMocks()
    expect(await expire(ports)).toEqual({ ...QUIET, expired: 60 })
  })

  it('leaves the rest of a deletion to the resolver when it fails after its tombstone', async () => {
    const ports = createPorts()
    await addExpired(ports, [1])
    ports.pass()
    await resolve(ports)
    vi.spyOn(ports.objects, 'discard').mockRejectedValue(new Error('S3 is down'))
    expect(await expire(ports)).toEqual({ ...QUIET, failed: 1, oldestMs: LEASE_MS })
    vi.restoreAllMocks()
    expect(await expire(ports)).toEqual(QUIET)
    // Its lease ends with the run.
    ports.pass(RUN_MS - 1)
    expect(await resolve(ports)).toMatchObject({ ended: 0, gaveBack: 0 })
    ports.pass(1)
    expect(await resolve(ports)).toMatchObject({ gaveBack: 1, failed: 0 })
    expect(ports.state()).toEqual(NOTHING)
  })

  it('gives up one that hangs, and does the others meanwhile', async () => {
    const ports = createPorts()
    const [hanging] = (await addExpired(ports, [1, 1, 4])) as [WorkspaceDocument]
    whenDeleted(ports, async ({ documentId }, deleteSignal) => {
      if (documentId !== hanging.documentId) return
      await new Promise((_, reject) => deleteSignal.addEventListener('abort', () => reject(deleteSignal.reason)))
    })
    expect(await expire(ports, { timeoutEachMs: 20 })).toEqual({ ...QUIET, expired: 2, failed: 1, oldestMs: 2 })
  })

  it('ends when its time is over, and says how late the oldest is that is left', async () => {
    const ports = createPorts({ defaultQuotaBytes: 100_000 })
    await addExpired(ports, [...times(10, 1), ...times(10, 4), ...times(80, 5)])
    const controller = new AbortController()
    let begun = 0
    whenDeleted(ports, async (_, deleteSignal) => {
      if (++begun === 30) controller.abort()
      deleteSignal.throwIfAborted()
      await turns(1)
    })
    const { expired, ...rest } = await expire(ports, { signal: controller.signal, shards: [SHARD] })
    expect(expired).toBeGreaterThanOrEqual(25)
    expect(expired).toBeLessThan(30)
    expect(ports.logged.filter(({ level }) => level === 'error')).toEqual([])
    const left = [...ports.documents.documents.values()].map(({ expiresAt }) => expiresAt?.getTime() ?? 0)
    expect(rest).toEqual({ failed: 0, unlisted: 0, oldestMs: ports.clock.nowMs - Math.min(...left) })
    vi.restoreAllMocks()
    expect(await expire(ports)).toMatchObject({ expired: left.length, oldestMs: 0 })
  })

  it('says so when documents cannot be listed, and does those of the other shards', async () => {
    const ports = createPorts()
    await addExpired(ports, [1, 2])
    const error = new Error('the index is being built')
    const list = ports.deps.expiries.listExpired
    vi.spyOn(ports.deps.expiries, 'listExpired').mockImplementation((expired, listSignal) => {
      if (expired.shard === SHARD) throw error
      return list(expired, listSignal)
    })
    expect(await expire(ports)).toEqual({ ...QUIET, expired: 1, unlisted: 1 })
    const message = 'expired documents not listed, left to a later run'
    expect(ports.logged).toContainEqual({ level: 'error', message, shard: SHARD, error })
    expect(ports.state(nth(2))).toEqual(NOTHING)
  })
})
