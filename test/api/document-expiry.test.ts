import { describe, expect, it, vi } from 'vitest'
import { endAfter, idsOf, useDocumentsApi } from '../support/api/documents-api.ts'
import { expectUntouched, idOf, refusalOf } from '../support/api/promotion-answers.ts'
import { ANTHROPIC, OPENAI } from '../support/api/test-api.ts'
import { afterNext, beforeNext } from '../support/beside.ts'
import { WORKSPACE } from '../support/ports.ts'

const DAY_MS = 86_400_000
const END_MS = endAfter(3600).getTime()

const files = useDocumentsApi()
const { api, setClock } = files
const promoteFor = (seconds: number | string, headers = {}) =>
  api.promote({ headers: { 'File-Expires-In': `${seconds}`, ...headers } })
const expiries = () => api.stored.documents().map(({ expiresAt }) => expiresAt)

describe('File-Expires-In', () => {
  it.each([3600, 7_776_000])('of %i seconds holds, and each shape tells when it ends', async (seconds) => {
    const { headers, body } = await promoteFor(seconds)
    expect(headers['file-expires-in']).toBe(`${seconds};by=request`)
    const expires_at = endAfter(seconds).toISOString()
    expect(body).toMatchObject({ created_at: '2026-11-21T09:38:35.556Z', expires_at })
    expect((await promoteFor(` ${seconds}`, ANTHROPIC)).body).toMatchObject({ expires_at })
    const ofOpenAi = (await promoteFor(seconds, OPENAI)).body as Record<string, number>
    expect(ofOpenAi.expires_at).toBe((ofOpenAi.created_at ?? 0) + seconds)
  })

  const TEXTS =
    '| |0|3599|7776001|1e9|-1|+3600|1.5|3600.0|0x1000|3600s|٣٦٠٠|Sat, 21 Nov 2026 12:00:00 GMT|2026-11-22|3600, 3600|' +
    `3600;by=request|${'9'.repeat(400)}`
  const REFUSED = [
    ...[...TEXTS.split('|'), ['3600', '3600'], ['3600', ''], ['', '']].map((value) => ({
      headers: { 'file-expires-in': value },
    })),
    ...[0, 3599, 7_776_001, 1e9, -1, 3600.5, '3600', [3600]].map((value) => ({ body: { expires_in_seconds: value } })),
  ]
  it('is 400 with the bounds for any other value, and twice; nothing is kept', async () => {
    for (const request of REFUSED) {
      const { headers = {}, body = {} } = request as { headers?: Record<string, string[]>; body?: object }
      const one = await api.promote({ headers, body })
      for (const refused of [one, await api.promoteAll({ prefix: '', ...body }, { headers })]) {
        expect(refusalOf(refused), JSON.stringify(request)).toEqual([400, 'invalid_expiry'])
        expect(JSON.stringify(refused.body)).toMatch(/"detail":"[^"]*expires_in_seconds[^"]*\b3600\b[^"]*\b7776000\b/)
      }
    }
    expectUntouched(api)
  })

  it.each([
    [7200, {}],
    [3600, { expires_in_seconds: 3600 }],
  ])('goes for one file, or for all of many, unless the body has another time: %i s for %j', async (seconds, body) => {
    const headers = { 'file-expires-in': '7200' }
    const one = await api.promote({ headers, body })
    await api.promoteAll({ prefix: '', ...body }, { headers })
    expect(one.headers['file-expires-in']).toBe(`${seconds};by=request`)
    expect(expiries()).toEqual([endAfter(seconds), endAfter(seconds)])
  })

  /** Wanted, by default, at most, and what holds; separated by bars. */
  const COMBINATIONS =
    '- - - -|- 60 - 60;by=default|- - 60 60;by=limit|- 90 60 60;by=limit|- 60 60 60;by=default|7200 - - 7200;by=request|' +
    '7200 60 - 7200;by=request|7200 - 3600 3600;by=limit|7200 - 7200 7200;by=request|7200 3600 5400 5400;by=limit'
  it.each(COMBINATIONS.split('|'))('and what the workspace has set: the stricter holds, %s', async (combination) => {
    const values = combination.split(' ').map((each) => (each === '-' ? undefined : Number.parseInt(each, 10)))
    const [wanted, expireAfterSeconds, expireAtMostSeconds, seconds] = values
    await api.workspaces.create(WORKSPACE, { quotaBytes: 1000 }, AbortSignal.timeout(60_000))
    const change = { shown: { quotaBytes: 1000 }, to: { expireAfterSeconds, expireAtMostSeconds } }
    await api.workspaces.change(WORKSPACE, change, AbortSignal.timeout(60_000))
    const { headers } = await (wanted ? promoteFor(wanted) : api.promote())
    expect(headers['file-expires-in']).toBe(seconds && combination.split(' ')[3])
    await api.promoteAll({ prefix: '', expires_in_seconds: wanted })
    const end = seconds && endAfter(seconds)
    expect(expiries()).toEqual([end, end])
  })
})

describe('a document that expires', () => {
  it('is there until that moment; then it is 404 document_expired for a day, whether or not it is deleted yet', async () => {
    const id = idOf(await promoteFor(3600))
    const listed = async () => [idsOf(await files.list({ 'ids[]': [id] }, ANTHROPIC)), idsOf(await files.list())]
    setClock(END_MS - 1)
    expect([(await files.show(id)).status, await listed()]).toEqual([200, [[id], [id]]])
    for (const [ms, reason] of [
      [0, 'document_expired'],
      [100_000, 'document_expired'],
      [100_000 + DAY_MS - 1000, 'document_expired'],
      [100_000 + DAY_MS + 1000, 'document_not_found'],
    ] as const) {
      setClock(END_MS + ms)
      if (ms === 100_000) await files.deleteExpired()
      const details = reason === 'document_expired' ? { error_code: 'file_expired' } : undefined
      for (const operation of [files.show, files.download, files.remove]) {
        const answer = await operation(id)
        expect(refusalOf(answer)).toEqual([404, reason])
        expect((answer.body as { error: { details?: object } }).error.details).toEqual(details)
      }
      expect(await listed()).toEqual([[], []])
      expect(refusalOf(await files.show(id, {}, api.foreignToken))).toEqual([404, 'document_not_found'])
    }
  })

  it.each([
    ['before it, and ends after it', 'bury', 200, false],
    ['after it', 'find', 404, false],
    ['after it, where the resolver was first', 'delete', 404, true],
  ] as const)('whose DELETE crosses its end is deleted %s: all answers agree', async (_, call, status, isBeaten) => {
    const id = idOf(await promoteFor(3600))
    setClock(END_MS - 1)
    const cross = call === 'find' ? afterNext : beforeNext
    cross(api.documents, call, async () => {
      setClock(END_MS)
      if (isBeaten) await files.deleteExpired()
    })
    for (let times = 0; times < 3; times++) expect((await files.remove(id)).status).toBe(status)
    expect(refusalOf(await files.show(id))).toEqual([404, status === 200 ? 'document_not_found' : 'document_expired'])
    if (status === 404) await files.deleteExpired()
    expectUntouched(api)
  })

  const MOMENTS_MS = [121_000, 120_444, 119_999, 1000, 444]
  it.each(MOMENTS_MS)('%i ms before its end, is downloaded by a URL that ends then', async (beforeMs) => {
    const id = idOf(await promoteFor(3600))
    const sign = vi.spyOn(api.dependencies.downloads, 'signDocument')
    setClock(END_MS - beforeMs)
    // Its clock is read once.
    beforeNext(api.documents, 'find', () => setClock(END_MS))
    const from = new Date(Math.floor((END_MS - beforeMs) / 1000) * 1000)
    const until = new Date(Math.min(from.getTime() + 120_000, END_MS))
    expect((await files.download(id)).body).toMatchObject({ expires_at: until.toISOString() })
    expect(sign).toHaveBeenCalledWith(expect.anything(), { from, until })
  })
})
