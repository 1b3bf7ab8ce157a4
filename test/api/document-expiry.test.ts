import { describe, expect, it, vi } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import { deleteDocument } from '../../lib/ledger/delete-document.ts'
import type { WorkspaceDocument } from '../../lib/ledger/ports/documents.ts'
import { ANTHROPIC, bodyOf, idsOf, OPENAI, useDocumentsApi } from '../support/api/documents-api.ts'
import { idOf, KEY, WORKSPACE } from '../support/api/idempotent-promotions.ts'
import type { AnyResponse } from '../support/api/openapi.ts'
import { expectUntouched, refusalOf } from '../support/api/promotion-answers.ts'
import { CONTAINER, CSV } from '../support/api/test-api.ts'
import { DOCUMENTS_TABLE } from '../support/dynamodb/memory-tables.ts'
import { NOW_MS } from '../support/ports.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** On a whole second, as the start is not. */
const IN_AN_HOUR_MS = Math.floor(NOW_MS / 1000) * 1000 + HOUR_MS
const signal = AbortSignal.timeout(60_000)

const files = useDocumentsApi()
const promote = (headers: Record<string, string | string[]> = {}) => files.api.promote({ headers })
const promoteAll = (body: object) =>
  files.api.call('promote_container_files', { parameters: { container_id: CONTAINER }, body: { prefix: '', ...body } })
const outcomesOf = ({ body }: AnyResponse) =>
  (body as { data: { outcome: string; error?: { metadata: { reason: string } } }[] }).data.map(
    ({ outcome, error }) => error?.metadata.reason ?? outcome,
  )
const expiring = (seconds = '3600', more = {}) => promote({ 'File-Expires-In': seconds, ...more })
const setClock = (ms: number) => {
  files.api.clock.nowMs = ms
}
const document = () => files.api.stored.documents()[0] as WorkspaceDocument
/** As the resolver does. */
const deleteExpired = async () => {
  const { stored, dependencies, clock } = files.api
  for (const each of stored.documents())
    await deleteDocument(each, { ifExpiredByMs: clock.nowMs }, dependencies, signal)
  expectUntouched(files.api)
}

describe('File-Expires-In', () => {
  it.each([3600, 7_776_000])('of %i seconds holds, and each shape tells when it ends', async (seconds) => {
    const { headers, body } = await expiring(String(seconds))
    expect(headers['file-expires-in']).toBe(`${seconds};by=request`)
    const until = new Date(IN_AN_HOUR_MS + (seconds - 3600) * 1000).toISOString()
    expect(body).toMatchObject({ created_at: '2026-11-21T09:38:35.556Z', expires_at: until })
    const [a, b] = [await expiring(` ${seconds}`, ANTHROPIC), await expiring(`${seconds}`, OPENAI)]
    expect(a.body).toMatchObject({ expires_at: until })
    const { created_at, expires_at } = b.body as Record<string, number>
    expect(expires_at).toBe((created_at ?? 0) + seconds)
  })

  it('is 400 with the bounds for any other value, and twice; nothing is kept', async () => {
    const values = ['', ' ', '0', '3599', '7776001', '1e9', '-1', '+3600', '1.5', '3600.0', '0x1000', '3600s', '٣٦٠٠']
    const texts = ['9'.repeat(400), 'Sat, 21 Nov 2026 12:00:00 GMT', '2026-11-22', '3600, 3600', '3600;by=request']
    for (const value of [...values, ...texts, ['3600', '3600'], ['3600', ''], ['', '']]) {
      const refused = await promote({ 'file-expires-in': value })
      expect(refusalOf(refused), String(value)).toEqual([400, 'invalid_expiry'])
      expect(JSON.stringify(refused.body)).toMatch(/"detail":"[^"]*\b3600\b[^"]*\b7776000\b/)
    }
    for (const value of [0, 3599, 7_776_001, 1e9, -1, 3600.5, '3600', [3600]]) {
      const body = { expires_in_seconds: value }
      for (const refused of [await promoteAll(body), await files.api.promote({ body })]) {
        expect(refusalOf(refused), String(value)).toEqual([400, 'invalid_expiry'])
        expect(JSON.stringify(refused.body)).toMatch(/expires_in_seconds.*\b3600\b.*\b7776000\b/)
      }
    }
    expectUntouched(files.api)
  })

  it('goes for all files of many, or for one, unless the body has another time', async () => {
    for (const [body, seconds] of [
      [{}, 7200],
      [{ expires_in_seconds: 3600 }, 3600],
    ] as const) {
      const parameters = { container_id: CONTAINER }
      const headers = { 'file-expires-in': '7200' }
      await files.api.call('promote_container_files', { parameters, headers, body: { prefix: '', ...body } })
      expect(document().expiresAt).toEqual(new Date(IN_AN_HOUR_MS + (seconds - 3600) * 1000))
      await files.api.stored.removeAll(DOCUMENTS_TABLE)
      const one = await files.api.promote({ headers, body })
      expect(one.headers['file-expires-in']).toBe(`${seconds};by=request`)
      await files.api.stored.removeAll(DOCUMENTS_TABLE)
    }
  })

  /** Wanted, by default, at most, and what holds; separated by bars. */
  const COMBINATIONS =
    '- - - -|- 60 - 60;by=default|- - 60 60;by=limit|- 90 60 60;by=limit|- 60 60 60;by=default|7200 - - 7200;by=request|' +
    '7200 60 - 7200;by=request|7200 - 3600 3600;by=limit|7200 - 7200 7200;by=request|7200 3600 5400 5400;by=limit'
  it.each(COMBINATIONS.split('|'))('and what the workspace has set: the stricter holds, %s', async (combination) => {
    const values = combination.split(' ').map((each) => (each === '-' ? undefined : Number.parseInt(each, 10)))
    const [wanted, expireAfterSeconds, expireAtMostSeconds, seconds] = values
    await files.api.workspaces.create(WORKSPACE, 1000, signal)
    const change = { shown: {}, to: { expireAfterSeconds, expireAtMostSeconds } }
    await files.api.workspaces.setRetention(WORKSPACE, change, signal)
    const { headers } = await (wanted ? expiring(`${wanted}`) : promote())
    expect(headers['file-expires-in']).toBe(seconds && combination.split(' ')[3])
    const end = seconds ? new Date(IN_AN_HOUR_MS - HOUR_MS + seconds * 1000) : undefined
    expect(document().expiresAt).toEqual(end)
    await promoteAll({ ...(wanted && { expires_in_seconds: wanted }) })
    expect(files.api.stored.documents().map(({ expiresAt }) => expiresAt)).toEqual([end, end])
  })
})

describe('a document that expires', () => {
  it('is there until that moment; then it is 404 document_expired for a day, whether or not it is deleted yet', async () => {
    const id = idOf(await expiring())
    const foreign = files.api.apiKeys.add({ workspaceId: 'ws_2' as WorkspaceId, kind: 'management', keyId: 'key_2' })
    const expectAll = async (reason: string) => {
      for (const operation of [files.show, files.download, files.remove]) {
        const answer = await operation(id)
        expect(refusalOf(answer)).toEqual([404, reason])
        const details = reason === 'document_expired' ? { error_code: 'file_expired' } : undefined
        expect((answer.body as { error: { details?: object } }).error.details).toEqual(details)
      }
      for (const query of [{ 'ids[]': [id] }, {}]) expect(bodyOf(await files.list(query, ANTHROPIC)).data).toEqual([])
      const other = await files.show(id, { Authorization: `Bearer ${foreign}` })
      expect(refusalOf(other)).toEqual([404, 'document_not_found'])
    }
    setClock(IN_AN_HOUR_MS - 1)
    expect((await files.show(id)).status).toBe(200)
    for (const query of [{ 'ids[]': [id] }, {}]) expect(idsOf(await files.list(query, ANTHROPIC))).toEqual([id])
    for (const [ms, reason] of [
      [0, 'document_expired'],
      [100_000, 'document_expired'],
      [100_000 + DAY_MS - 1000, 'document_expired'],
      [100_000 + DAY_MS + 1000, 'document_not_found'],
    ] as const) {
      setClock(IN_AN_HOUR_MS + ms)
      if (ms === 100_000) await deleteExpired()
      await expectAll(reason)
    }
  })

  it('and was deleted before is deleted, not expired, for good', async () => {
    const id = idOf(await expiring())
    for (const ms of [IN_AN_HOUR_MS - 1, IN_AN_HOUR_MS + HOUR_MS]) {
      setClock(ms)
      expect((await files.remove(id)).status).toBe(200)
    }
    expect(refusalOf(await files.show(id))).toEqual([404, 'document_not_found'])
  })

  it.each([
    ['before it, and ends after it', 'bury', 200, false],
    ['after it', 'find', 404, false],
    ['after it, where the resolver was first', 'delete', 404, true],
  ] as const)(
    'whose DELETE crosses its end is deleted %s: all answers are the same',
    async (_, call, status, isBeaten) => {
      const id = idOf(await expiring())
      setClock(IN_AN_HOUR_MS - 1)
      const send = files.api.documents[call] as (...args: unknown[]) => Promise<unknown>
      vi.spyOn(files.api.documents as unknown as Record<string, typeof send>, call).mockImplementationOnce(
        async (...args) => {
          const found = call === 'find' && (await send(...args))
          setClock(IN_AN_HOUR_MS)
          if (isBeaten) await deleteExpired()
          return found || send(...args)
        },
      )
      for (let times = 0; times < 3; times++) expect((await files.remove(id)).status).toBe(status)
      expect(refusalOf(await files.show(id))).toEqual([404, status === 200 ? 'document_not_found' : 'document_expired'])
      if (status === 404) await deleteExpired()
      expectUntouched(files.api)
    },
  )

  it.each([121_000, 120_444, 119_999, 1000, 444])(
    '%i ms before its end, is downloaded by a URL that ends then',
    async (beforeMs) => {
      const id = idOf(await expiring())
      const sign = vi.spyOn(files.api.dependencies.downloads, 'signDocument')
      const [fromMs, found] = [IN_AN_HOUR_MS - beforeMs, document()]
      setClock(fromMs)
      // Its clock is read once.
      vi.spyOn(files.api.documents, 'find').mockImplementation(async () => {
        setClock(IN_AN_HOUR_MS)
        return found
      })
      const from = new Date(Math.floor(fromMs / 1000) * 1000)
      const until = new Date(Math.min(from.getTime() + 120_000, IN_AN_HOUR_MS))
      expect((await files.download(id)).body).toMatchObject({ expires_at: until.toISOString() })
      expect(sign).toHaveBeenCalledWith(expect.anything(), { from, until })
    },
  )

  /** By its Idempotency-Key, and by a promotion of many. */
  const promoteBoth = async (seconds?: number) => {
    const headers = { 'Idempotency-Key': KEY, ...(seconds && { 'File-Expires-In': `${seconds}` }) }
    return [await promote(headers), await promoteAll({ expires_in_seconds: seconds })] as const
  }

  /** Each request, and after how long the document then expires, counted from the first; and the header of a replay. */
  const KEPT: [wanted: number | undefined, retention: object, afterMs: number, end?: number, by?: string][] = [
    [7200, {}, 0, 7200, '7200;by=request'],
    [3600, {}, 60_000, 3660, '3600;by=request'],
    [3600, {}, 0, 3600, '3600;by=earlier'],
    [3600, {}, -5000, 3600, '3605;by=earlier'],
    [undefined, {}, 0],
    [undefined, { expireAfterSeconds: 4000 }, 0, 4000, '4000;by=default'],
    [undefined, { expireAfterSeconds: 60 }, 1_800_000, 3600, '1800;by=earlier'],
    [7_776_000, { expireAtMostSeconds: 5000 }, 0, 5000, '5000;by=limit'],
    [undefined, { expireAtMostSeconds: 5000 }, 0, 5000, '5000;by=limit'],
  ]
  it.each(KEPT)('of an hour, asked for %j again with %j, %i ms later: it ends after %j s', async (...row) => {
    const [wanted, retention, afterMs, end, header] = row
    const [first] = await promoteBoth(3600)
    await files.api.workspaces.setRetention(WORKSPACE, { shown: {}, to: retention }, signal)
    setClock(NOW_MS + afterMs)
    const [one, many] = await promoteBoth(wanted)
    expect([idOf(one), outcomesOf(many)]).toEqual([idOf(first), ['kept']])
    const until = end && new Date(IN_AN_HOUR_MS + (end - 3600) * 1000).toISOString()
    const told = (many.body as { data: [{ document: object }] }).data[0].document
    const ends = [one.body, told, (await files.show(idOf(one))).body].map(
      (each) => (each as Record<string, unknown>).expires_at,
    )
    expect(ends).toEqual([until, until, until])
    expect(one.headers).toMatchObject({ 'idempotency-replayed': 'true', 'storage-used-bytes': '16' })
    expect(one.headers['file-expires-in']).toBe(header)
  })

  it('is kept with others by one read of the ledger', async () => {
    for (let i = 0; i < 5; i++) files.api.putFile(`f${i}`, CSV)
    await promoteAll({ expires_in_seconds: 3600 })
    const usage = vi.spyOn(files.api.ledger, 'read')
    expect(new Set(outcomesOf(await promoteAll({ expires_in_seconds: 7200 })))).toEqual(new Set(['kept']))
    expect(usage).toHaveBeenCalledTimes(1)
  })

  it('is 503 in its last two minutes if it is to be kept for longer, and says how long to wait; else it is kept', async () => {
    await promoteBoth(3600)
    setClock(IN_AN_HOUR_MS - 119_999)
    const [one, many] = await promoteBoth(3600)
    expect([refusalOf(one), one.headers['retry-after']]).toEqual([[503, 'document_expires_soon'], '120'])
    expect(outcomesOf(many)).toEqual(['document_expires_soon'])
    await files.api.workspaces.setRetention(WORKSPACE, { shown: {}, to: { expireAtMostSeconds: 60 } }, signal)
    const [again, kept] = await promoteBoth()
    expect([again.status, outcomesOf(kept)]).toEqual([200, ['kept']])
  })

  it('is made anew when its end comes while the ledger is read', async () => {
    await promoteBoth(3600)
    const { read } = files.api.ledger
    const endMeanwhile = () => {
      setClock(IN_AN_HOUR_MS - 1)
      vi.spyOn(files.api.ledger, 'read').mockImplementationOnce(async (...args) => {
        setClock(IN_AN_HOUR_MS)
        return read(...args)
      })
    }
    endMeanwhile()
    const one = await expiring('3600', { 'Idempotency-Key': KEY })
    expect([one.status, one.headers['idempotency-replayed'], one.headers['file-expires-in']]).toEqual([
      200,
      undefined,
      '3600;by=request',
    ])
    endMeanwhile()
    expect(outcomesOf(await promoteAll({ expires_in_seconds: 3600 }))).toEqual(['promoted'])
  })

  it.each([
    [7200, 9000, 9000],
    [9001, 9000, 9001],
  ])(
    'asked for %i s when another request has just changed it to %i s, ends after %i s',
    async (seconds, other, end) => {
      await promoteAll({ expires_in_seconds: 3600 })
      const at = (after: number) => new Date(IN_AN_HOUR_MS + (after - 3600) * 1000)
      const { setExpiry } = files.api.documents
      vi.spyOn(files.api.documents, 'setExpiry').mockImplementationOnce(async (...args) => {
        await setExpiry(args[0], at(other), signal)
        return setExpiry(...args)
      })
      const { body } = await promoteAll({ expires_in_seconds: seconds })
      expect([body, document().expiresAt]).toMatchObject([
        { data: [{ document: { expires_at: at(end).toISOString() } }] },
        at(end),
      ])
    },
  )

  it('is made anew, at once, and counted once; one that was deleted is not, for a day', async () => {
    const [first] = await promoteBoth(3600)
    for (const [ms, isFreed] of [
      [0, false],
      [HOUR_MS + 50_000, true],
      [2 * HOUR_MS + 50_000, false],
    ] as const) {
      setClock(IN_AN_HOUR_MS + ms)
      if (isFreed) await deleteExpired()
      const [one, many] = await promoteBoth(3600)
      expect([one.status, idOf(one), outcomesOf(many)]).toEqual([200, idOf(first), ['promoted']])
      expect(one.headers['file-expires-in']).toBe('3600;by=request')
      expect((await files.show(idOf(one))).body).toEqual(one.body)
      const [again, kept] = await promoteBoth(3600)
      expect([again.body, outcomesOf(kept)]).toEqual([one.body, ['kept']])
      expect(again.headers).toMatchObject({ 'idempotency-replayed': 'true', 'storage-used-bytes': '16' })
      expect([files.api.objects.documents.size, files.api.stored.documents().length]).toEqual([2, 2])
    }
    const deletedAtMs = files.api.clock.nowMs
    for (const { documentId } of files.api.stored.documents()) await files.remove(documentId)
    for (const [ms, status, outcome] of [
      [-1000, 400, 'idempotency_key_spent'],
      [1000, 200, 'promoted'],
    ] as const) {
      setClock(deletedAtMs + DAY_MS + ms)
      const [one, many] = await promoteBoth(3600)
      expect([one.status, outcomesOf(many)]).toEqual([status, [outcome]])
      if (status === 400) expect(refusalOf(one)[1]).toBe(outcome)
      else expect([idOf(one), one.headers['idempotency-replayed']]).toEqual([idOf(first), undefined])
    }
  })

  it('is made anew by one of two twins; the other waits, or is told to', async () => {
    await promoteBoth(3600)
    setClock(IN_AN_HOUR_MS)
    const twins = await Promise.all([1, 2].map(() => promote({ 'Idempotency-Key': KEY })))
    expect(twins.map(({ status }) => status).toSorted()).toEqual([200, 503])
    const many = await Promise.all([1, 2].map(() => promoteAll({ expires_in_seconds: 3600 })))
    expect(many.flatMap(outcomesOf).toSorted()).toEqual(['kept', 'promoted'])
    expect([files.api.stored.documents().length, files.api.objects.documents.size]).toEqual([2, 2])
  })
})

it('a list that passed over too many expired documents goes on behind them, though it shows none', async () => {
  const [first, second] = [await files.record(2), await files.record(1)]
  vi.spyOn(files.api.dependencies.listing, 'page').mockResolvedValueOnce({ items: [], hasMore: true, last: first })
  const { body } = await files.api.call('list_documents')
  expect(body).toMatchObject({ data: [], first_id: null, last_id: first.documentId, has_more: true })
  const { cursor } = body as { cursor: string }
  for (const query of [{ cursor }, { after: first.documentId }]) {
    expect(idsOf(await files.api.call('list_documents', { query }))).toEqual([second.documentId])
  }
})

describe('a quota refusal', () => {
  const refuse = async (expiries: number[], workspaceId: WorkspaceId = WORKSPACE) => {
    for (const ms of expiries) await files.record(1, { workspaceId, expiresAt: new Date(NOW_MS + ms) })
    await files.api.workspaces.create(WORKSPACE, CSV.length, signal)
    await files.api.stored.setUsage(WORKSPACE, { quotaBytes: CSV.length, usedBytes: 1 })
    const refused = await promote()
    expect(refusalOf(refused)).toEqual([403, 'storage_quota_exceeded'])
    const { metadata } = (refused.body as { error: { metadata: { frees_bytes_at?: string } } }).error
    return [refused.headers['retry-after'], metadata.frees_bytes_at && Date.parse(metadata.frees_bytes_at) - NOW_MS]
  }
  const nothing = [undefined, undefined]

  it.each([
    ['the next to expire, and two minutes', [3_000_000, 600_000], ['720', 720_000]],
    ['two minutes, if one has expired already', [-5000], ['120', 120_000]],
    ['the very hour', [3_480_000], ['3600', HOUR_MS]],
    ['nothing beyond the hour', [3_480_001], nothing],
  ])('names %s', async (_, expiries, expected) => {
    expect(await refuse(expiries)).toEqual(expected)
  })

  it("names no other workspace's time, and none when the index fails, which the log tells", async () => {
    expect(await refuse([600_000], 'ws_2' as WorkspaceId)).toEqual(nothing)
    const error = new Error('down')
    vi.spyOn(files.api.documents, 'nextExpiry').mockRejectedValue(error)
    expect(await refuse([600_000])).toEqual(nothing)
    expect(files.api.logged).toContainEqual(expect.objectContaining({ level: 'warn', error }))
  })
})
