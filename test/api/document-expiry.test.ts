import { describe, expect, it, vi } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import { deleteFound } from '../../lib/ledger/delete-document.ts'
import type { WorkspaceDocument } from '../../lib/ledger/ports/document-records.ts'
import { ANTHROPIC, bodyOf, idsOf, OPENAI, useDocumentsApi } from '../support/api/documents-api.ts'
import { idOf, KEY, WORKSPACE } from '../support/api/idempotent-promotions.ts'
import type { AnyResponse } from '../support/api/openapi.ts'
import { expectUntouched, refusalOf } from '../support/api/promotion-answers.ts'
import { CONTAINER, CSV } from '../support/api/test-api.ts'
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
const document = () => [...files.api.documents.documents.values()][0] as WorkspaceDocument
/** As the resolver does. */
const deleteExpired = async () => {
  const { documents, dependencies, clock } = files.api
  for (const each of documents.documents.values()) await deleteFound(each, dependencies, signal, clock.nowMs)
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
        expect(refusalOf(refused), String(value)).toEqual([400, 'invalid_body'])
        expect(JSON.stringify(refused.body)).toMatch(/expires_in_seconds.*\b3600\b.*\b7776000\b/)
      }
    }
    expectUntouched(files.api)
  })

  it('goes for all files of many, unless the body has another time', async () => {
    for (const [body, seconds] of [
      [{}, 7200],
      [{ expires_in_seconds: 3600 }, 3600],
    ] as const) {
      const parameters = { container_id: CONTAINER }
      const headers = { 'file-expires-in': '7200' }
      await files.api.call('promote_container_files', { parameters, headers, body: { prefix: '', ...body } })
      expect(document().expiresAt).toEqual(new Date(IN_AN_HOUR_MS + (seconds - 3600) * 1000))
      files.api.documents.documents.clear()
      files.api.documents.tombstones.clear()
    }
  })

  it('gives way to the body of a promotion of one file, too', async () => {
    for (const headers of [{}, { 'File-Expires-In': '7200' }]) {
      const answer = await files.api.promote({ headers, body: { expires_in_seconds: 3600 } })
      expect(answer).toMatchObject({
        headers: { 'file-expires-in': '3600;by=request' },
        body: { expires_at: new Date(IN_AN_HOUR_MS).toISOString() },
      })
    }
  })

  /** Wanted, by default, at most, and what holds; separated by bars. */
  const COMBINATIONS =
    '- - - -|- 60 - 60;by=default|- - 60 60;by=limit|- 90 60 60;by=limit|- 60 60 60;by=default|7200 - - 7200;by=request|' +
    '7200 60 - 7200;by=request|7200 - 3600 3600;by=limit|7200 - 7200 7200;by=request|7200 3600 5400 5400;by=limit'
  it.each(COMBINATIONS.split('|'))('and what the workspace has set: the stricter holds, %s', async (combination) => {
    const values = combination.split(' ').map((each) => (each === '-' ? undefined : Number.parseInt(each, 10)))
    const [wanted, expireAfterSeconds, expireAtMostSeconds, seconds] = values
    await files.api.ledger.create(WORKSPACE, 1000, signal)
    const change = { shown: {}, to: { expireAfterSeconds, expireAtMostSeconds } }
    await files.api.ledger.setRetention(WORKSPACE, change, signal)
    const { headers } = await (wanted ? expiring(`${wanted}`) : promote())
    expect(headers['file-expires-in']).toBe(seconds && combination.split(' ')[3])
    const end = seconds ? new Date(IN_AN_HOUR_MS - HOUR_MS + seconds * 1000) : undefined
    expect(document().expiresAt).toEqual(end)
    await promoteAll({ ...(wanted && { expires_in_seconds: wanted }) })
    expect([...files.api.documents.documents.values()].map(({ expiresAt }) => expiresAt)).toEqual([end, end])
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
    ['before it, and ends after it', 'removeNote', 200, false],
    ['after it', 'note', 404, false],
    ['after it, where the resolver was first', 'note', 404, true],
  ] as const)(
    'whose DELETE crosses its end is deleted %s: all answers are the same',
    async (_, call, status, isBeaten) => {
      const id = idOf(await expiring())
      setClock(IN_AN_HOUR_MS - 1)
      const write = files.api.reservations[call]
      vi.spyOn(files.api.reservations, call).mockImplementationOnce(async (...args) => {
        setClock(IN_AN_HOUR_MS)
        if (isBeaten) await deleteExpired()
        await write(...args)
      })
      for (let times = 0; times < 3; times++) expect((await files.remove(id)).status).toBe(status)
      expect(refusalOf(await files.show(id))).toEqual([404, status === 200 ? 'document_not_found' : 'document_expired'])
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
      vi.spyOn(files.api.documents, 'findEvenDeleted').mockImplementation(async () => {
        setClock(IN_AN_HOUR_MS)
        return found
      })
      const from = new Date(Math.floor(fromMs / 1000) * 1000)
      const until = new Date(Math.min(from.getTime() + 120_000, IN_AN_HOUR_MS))
      expect((await files.download(id)).body).toMatchObject({ expires_at: until.toISOString() })
      expect(sign).toHaveBeenCalledWith(expect.anything(), { from, until })
    },
  )

  /** Each request, and after how long the document then expires, counted from the first; and the header of a replay. */
  const KEPT: [wanted: number | undefined, retention: object, afterMs: number, end: number | undefined, by?: string][] =
    [
      [7200, {}, 0, 7200, '7200;by=request'],
      [3600, {}, 60_000, 3660, '3600;by=request'],
      [3600, {}, 0, 3600, '3600;by=earlier'],
      [3600, {}, -5000, 3600, '3605;by=earlier'],
      [undefined, {}, 0, undefined],
      [undefined, { expireAfterSeconds: 4000 }, 0, 4000, '4000;by=default'],
      [undefined, { expireAfterSeconds: 60 }, 1_800_000, 3600, '1800;by=earlier'],
      [7_776_000, { expireAtMostSeconds: 5000 }, 0, 5000, '5000;by=limit'],
      [undefined, { expireAtMostSeconds: 5000 }, 0, 5000, '5000;by=limit'],
    ]
  it.each(KEPT)('of an hour, asked for %j again with %j, %i ms later: it ends after %j s', async (...row) => {
    const [wanted, retention, afterMs, end, header] = row
    const headers = { 'Idempotency-Key': KEY }
    const first = await expiring('3600', headers)
    await promoteAll({ expires_in_seconds: 3600 })
    await files.api.ledger.setRetention(WORKSPACE, { shown: {}, to: retention }, signal)
    setClock(NOW_MS + afterMs)
    const one = await promote({ ...headers, ...(wanted && { 'File-Expires-In': `${wanted}` }) })
    const many = await promoteAll({ expires_in_seconds: wanted })
    expect([idOf(one), outcomesOf(many)]).toEqual([idOf(first), ['kept']])
    const until = end && new Date(IN_AN_HOUR_MS + (end - 3600) * 1000).toISOString()
    const told = (many.body as { data: [{ document: object }] }).data[0].document
    for (const each of [one.body, told, (await files.show(idOf(one))).body]) {
      expect((each as { expires_at?: string }).expires_at).toBe(until)
    }
    expect(one.headers).toMatchObject({ 'idempotency-replayed': 'true', 'storage-used-bytes': '16' })
    expect(one.headers['file-expires-in']).toBe(header)
  })

  it('reads the ledger once for all that a request keeps, and not for what never expires', async () => {
    for (let i = 0; i < 5; i++) files.api.putFile(`f${i}`, CSV)
    await promoteAll({ expires_in_seconds: 3600 })
    const usage = vi.spyOn(files.api.ledger, 'usage')
    for (const seconds of [3600, 7200, undefined, 7200]) {
      usage.mockClear()
      expect(new Set(outcomesOf(await promoteAll({ expires_in_seconds: seconds })))).toHaveLength(1)
      expect(usage).toHaveBeenCalledTimes(1)
    }
    expect([...files.api.documents.documents.values()].map(({ expiresAt }) => expiresAt)).toEqual(
      Array(6).fill(undefined),
    )
  })

  it('is 503 in its last two minutes if it is to be kept for longer, and says how long to wait; else it is kept', async () => {
    const headers = { 'Idempotency-Key': KEY }
    await expiring('3600', headers)
    await promoteAll({ expires_in_seconds: 3600 })
    setClock(IN_AN_HOUR_MS - 119_999)
    const one = await expiring('3600', headers)
    expect([refusalOf(one), one.headers['retry-after']]).toEqual([[503, 'document_expires_soon'], '120'])
    expect(outcomesOf(await promoteAll({}))).toEqual(['document_expires_soon'])
    await files.api.ledger.setRetention(WORKSPACE, { shown: {}, to: { expireAtMostSeconds: 60 } }, signal)
    expect([(await expiring('3600', headers)).status, outcomesOf(await promoteAll({}))]).toEqual([200, ['kept']])
  })

  it('is not kept when its end comes while the ledger is read', async () => {
    const headers = { 'Idempotency-Key': KEY }
    await expiring('3600', headers)
    await promoteAll({ expires_in_seconds: 3600 })
    const { usage } = files.api.ledger
    const endMeanwhile = () => {
      setClock(IN_AN_HOUR_MS - 1)
      vi.spyOn(files.api.ledger, 'usage').mockImplementationOnce(async (...args) => {
        setClock(IN_AN_HOUR_MS)
        return usage(...args)
      })
    }
    endMeanwhile()
    expect(refusalOf(await promote(headers))).toEqual([400, 'idempotency_key_spent'])
    endMeanwhile()
    expect(outcomesOf(await promoteAll({}))).toEqual(['idempotency_key_spent'])
  })

  it('is told as it is when another request has changed it meanwhile', async () => {
    await promoteAll({ expires_in_seconds: 3600 })
    const { setExpiry } = files.api.dependencies.expiries
    for (const [seconds, other, end] of [[7200, 9000, 9000] as const, [9001, 9000.5, 9001] as const]) {
      vi.spyOn(files.api.dependencies.expiries, 'setExpiry').mockImplementationOnce(async (...args) => {
        await setExpiry(args[0], new Date(IN_AN_HOUR_MS + (other - 3600) * 1000), signal)
        return setExpiry(...args)
      })
      const { body } = await promoteAll({ expires_in_seconds: seconds })
      const until = new Date(IN_AN_HOUR_MS + (end - 3600) * 1000)
      expect([body, document().expiresAt]).toMatchObject([
        { data: [{ document: { expires_at: until.toISOString() } }] },
        until,
      ])
    }
  })

  it("is no longer its Idempotency-Key's, nor kept by promotions of many; for a day, neither makes it anew", async () => {
    const promoteBoth = async (seconds: number) => {
      const answers = [await expiring(`${seconds}`, { 'Idempotency-Key': KEY })]
      answers.push(await promoteAll({ expires_in_seconds: seconds }))
      return answers as [AnyResponse, AnyResponse]
    }
    const [first] = await promoteBoth(3600)
    for (const [ms, outcome, isFreed] of [
      [0, 'idempotency_key_spent', false],
      [50_000, 'idempotency_key_spent', true],
      [50_000 + DAY_MS - 1000, 'idempotency_key_spent', false],
      [50_000 + DAY_MS + 1000, 'promoted', false],
    ] as const) {
      setClock(IN_AN_HOUR_MS + ms)
      if (isFreed) await deleteExpired()
      const [one, many] = await promoteBoth(7200)
      expect(outcomesOf(many)).toEqual([outcome])
      if (outcome === 'idempotency_key_spent') expect(refusalOf(one)).toEqual([400, outcome])
      else expect([one.status, idOf(one)]).toEqual([200, idOf(first)])
      if (outcome === 'promoted') expect(one.headers['file-expires-in']).toBe('7200;by=request')
    }
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
  const refuse = async (expiries: number[], workspaceId: WorkspaceId = WORKSPACE, quotaBytes = CSV.length) => {
    for (const ms of expiries) await files.record(1, { workspaceId, expiresAt: new Date(NOW_MS + ms) })
    await files.api.ledger.create(WORKSPACE, quotaBytes, signal)
    const ledger = files.api.ledger.workspaces.get(WORKSPACE)
    Object.assign(ledger ?? {}, { quotaBytes, remainingBytes: CSV.length - 1 })
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

  it('names nothing to a file that is larger than the whole quota', async () => {
    expect(await refuse([600_000], WORKSPACE, CSV.length - 1)).toEqual(nothing)
  })

  it("names no other workspace's time, and none when the index fails, which the log tells", async () => {
    expect(await refuse([600_000], 'ws_2' as WorkspaceId)).toEqual(nothing)
    const error = new Error('down')
    vi.spyOn(files.api.dependencies.expiries, 'nextExpiry').mockRejectedValue(error)
    expect(await refuse([600_000])).toEqual(nothing)
    expect(files.api.logged).toContainEqual(expect.objectContaining({ level: 'warn', error }))
  })
})
