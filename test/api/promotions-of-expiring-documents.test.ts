import { describe, expect, it } from 'vitest'
import type { Retention } from '../../lib/ledger/expiry.ts'
import { endAfter, useDocumentsApi } from '../support/api/documents-api.ts'
import { idOf, refusalOf } from '../support/api/promotion-answers.ts'
import { listOf, outcomesOf } from '../support/api/promotions-of-many.ts'
import { CSV, PATH, withKey } from '../support/api/test-api.ts'
import { beforeNext } from '../support/beside.ts'
import { NOW_MS, WORKSPACE } from '../support/ports.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const END_MS = endAfter(3600).getTime()
const signal = AbortSignal.timeout(60_000)

const files = useDocumentsApi()
const { api, setClock } = files
const setRetention = async (to: Retention) => {
  const shown = await api.ledger.read(WORKSPACE, signal)
  return shown && api.workspaces.change(WORKSPACE, { shown, to }, signal)
}
const promoteMany = (seconds?: number) => api.promoteAll({ prefix: '', expires_in_seconds: seconds })
/** By its Idempotency-Key, and by a promotion of many. */
const promoteBoth = async (seconds?: number) => {
  const one = await api.promote({ ...withKey(), body: { expires_in_seconds: seconds } })
  return [one, await promoteMany(seconds)] as const
}
const [KEPT, PROMOTED] = [[[PATH, 'kept']], [[PATH, 'promoted']]]

describe('POST …/promote of a file whose document expires', () => {
  /** Each request, and after how long the document then expires, counted from the first; and the header of a replay. */
  const REPEATED: [wanted: number | undefined, retention: Retention, afterMs: number, end?: number, by?: string][] = [
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
  it.each(REPEATED)('in an hour, for %j s again, with %j, %i ms later, lets it end after %j s', async (...row) => {
    const [wanted, retention, afterMs, end, header] = row
    api.putFile('other', CSV)
    const [first] = await promoteBoth(3600)
    await setRetention(retention)
    setClock(NOW_MS + afterMs)
    const [one, many] = await promoteBoth(wanted)
    expect([idOf(one), outcomesOf(many)]).toEqual([idOf(first), [['other', 'kept'], ...KEPT]])
    const told = listOf(many).data.map(({ document }) => document)
    const ends = [one.body, (await files.show(idOf(one))).body, ...told].map(
      (each) => (each as { expires_at?: string }).expires_at,
    )
    expect(ends).toEqual(Array(4).fill(end && endAfter(end).toISOString()))
    expect(one.headers).toMatchObject({ 'idempotency-replayed': 'true', 'storage-used-bytes': '24' })
    expect(one.headers['file-expires-in']).toBe(header)
  })

  it('is 503 in its last two minutes if it is to be kept for longer, and says how long to wait; else it is kept', async () => {
    await promoteBoth(3600)
    setClock(END_MS - 119_999)
    const [one, many] = await promoteBoth(3600)
    expect([refusalOf(one), one.headers['retry-after']]).toEqual([[503, 'document_expires_soon'], '120'])
    expect(outcomesOf(many)).toEqual([[PATH, 'document_expires_soon']])
    await setRetention({ expireAtMostSeconds: 60 })
    const [again, kept] = await promoteBoth()
    expect([again.status, outcomesOf(kept)]).toEqual([200, KEPT])
  })

  it('makes it anew when its end comes while the ledger is read', async () => {
    await promoteBoth(3600)
    const endMeanwhile = () => {
      setClock(END_MS - 1)
      beforeNext(api.ledger, 'read', () => setClock(END_MS))
    }
    endMeanwhile()
    const { headers } = await api.promote({ ...withKey(), body: { expires_in_seconds: 3600 } })
    expect(headers['file-expires-in']).toBe('3600;by=request')
    expect(headers).not.toHaveProperty('idempotency-replayed')
    endMeanwhile()
    expect(outcomesOf(await promoteMany(3600))).toEqual(PROMOTED)
  })

  it.each([
    [7200, 9000, 9000],
    [9001, 9000, 9001],
  ])('for %i s, when another request has just changed it to %i s, lets it end after %i s', async (...row) => {
    const [seconds, other, end] = row
    await promoteMany(3600)
    const { documents } = api
    beforeNext(documents, 'setExpiry', (document) => documents.setExpiry(document, endAfter(other), signal))
    const told = listOf(await promoteMany(seconds)).data[0]?.document?.expires_at
    expect([told, api.stored.documents()[0]?.expiresAt]).toEqual([endAfter(end).toISOString(), endAfter(end)])
  })

  it('makes it anew, at once, and counts it once; what was deleted only by a request of its own, for a day', async () => {
    const [first] = await promoteBoth(3600)
    for (const [ms, isFreed] of [
      [0, false],
      [HOUR_MS + 50_000, true],
      [2 * HOUR_MS + 50_000, false],
    ] as const) {
      setClock(END_MS + ms)
      if (isFreed) await files.deleteExpired()
      const [one, many] = await promoteBoth(3600)
      expect([one.status, idOf(one), outcomesOf(many)]).toEqual([200, idOf(first), PROMOTED])
      expect(one.headers['file-expires-in']).toBe('3600;by=request')
      expect((await files.show(idOf(one))).body).toEqual(one.body)
      const [again, kept] = await promoteBoth(3600)
      expect([again.body, outcomesOf(kept)]).toEqual([one.body, KEPT])
      expect(again.headers).toMatchObject({ 'idempotency-replayed': 'true', 'storage-used-bytes': '16' })
      expect([api.objects.documents.size, api.stored.documents().length]).toEqual([2, 2])
    }
    const deletedAtMs = api.clock.nowMs
    for (const { documentId } of api.stored.documents()) await files.remove(documentId)
    setClock(deletedAtMs + DAY_MS - 1000)
    expect(refusalOf(await api.promote(withKey()))).toEqual([400, 'idempotency_key_spent'])
    const detail = expect.stringContaining('by a request of its own')
    const error = { metadata: { reason: 'idempotency_key_spent', detail } }
    for (const body of [{ prefix: '' }, { paths: [PATH] }]) {
      expect(listOf(await api.promoteAll(body)).data).toMatchObject([{ path: PATH, error }])
    }
    expect((await api.promote()).status).toBe(200)
    setClock(deletedAtMs + DAY_MS + 1000)
    const [one, many] = await promoteBoth(3600)
    expect([idOf(one), outcomesOf(many)]).toEqual([idOf(first), PROMOTED])
    expect(one.headers).not.toHaveProperty('idempotency-replayed')
  })
})
