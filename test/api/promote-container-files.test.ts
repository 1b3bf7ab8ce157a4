import { createHash } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { formatFileId } from '../../lib/ids.ts'
import { all, listOf, manyPaths, outcomesOf, usePromotionsOfMany } from '../support/api/promotions-of-many.ts'
import { CONTAINER, CSV, OPENAI, PATH, withKey } from '../support/api/test-api.ts'
import { afterNext, beforeNext } from '../support/beside.ts'
import { WORKSPACE } from '../support/ports.ts'

const prepare = usePromotionsOfMany()
const SHA256 = createHash('sha256').update(CSV).digest('hex')

describe('POST /v1/containers/{container_id}/promote: 200', () => {
  it('promotes what begins with the prefix, in order of path, counts it, and answers in the shape of its vendor', async () => {
    const api = prepare(['output/b.csv', 'output/\u{1f4c4}.csv', 'output/\uff21.csv', 'outputs.csv', 'output.csv'])
    const response = await api.promoteAll({ prefix: 'output/' })
    // UTF-8 sorts U+FF21 before U+1F4C4, UTF-16 after it.
    const promoted = ['output/b.csv', PATH, 'output/\uff21.csv', 'output/\u{1f4c4}.csv']
    expect(outcomesOf(response)).toEqual(all('promoted', promoted))
    expect(response.body).toMatchObject({ object: 'list', has_more: false, next: null })
    const [first] = listOf(response).data
    const path = 'output/b.csv'
    const document = expect.objectContaining({ _shape: 'native', filename: path, size_bytes: 8, sha256: SHA256 })
    expect(first).toEqual({ path, file_id: formatFileId(path), outcome: 'promoted', document })
    expect(response.headers).toMatchObject({ 'storage-quota-bytes': '1000', 'storage-used-bytes': '32' })
    const kept = api.stored.documents().map(({ filename }) => filename)
    expect(kept.toSorted()).toEqual(promoted.toSorted())
    expect([api.objects.documents.size, api.stored.items().length]).toEqual([4, 4])
    expect(api.stored.ledgerOf('ws_1')).toMatchObject({ usedBytes: 32 })
    const { data } = listOf(await api.promoteAll({ paths: [PATH] }, { headers: OPENAI }))
    expect(data).toMatchObject([{ path: PATH, document: { _shape: 'compat_b', object: 'file', bytes: 8 } }])
  })

  it('promotes the paths that it is given, sorted, and refuses those that are not there one by one', async () => {
    const api = prepare(['b.csv', 'a.csv'])
    const response = await api.promoteAll({ paths: ['\u{1f4c4}', 'gone.csv', 'b.csv', '\uff21', '__proto__', 'a.csv'] })
    const reason = 'container_file_not_found'
    expect(outcomesOf(response)).toEqual([
      ...all(reason, ['__proto__']),
      ...all('promoted', ['a.csv', 'b.csv']),
      ...all(reason, ['gone.csv', '\uff21', '\u{1f4c4}']),
    ])
    const detail = 'The container exists, but has no file at this path.'
    const metadata = { reason, detail, container_id: CONTAINER, path: '__proto__' }
    expect(listOf(response).data[0]?.error).toEqual({ code: 404, message: 'Resource not found', metadata })
  })

  it('waits for another request that is promoting the same file, and keeps its document', async () => {
    const api = prepare(['a.csv'])
    const again = Promise.withResolvers<Awaited<ReturnType<typeof api.promoteAll>>>()
    beforeNext(api.documents, 'record', async () => {
      const isMet = new Promise<void>((resolve) => afterNext(api.documents, 'find', resolve))
      again.resolve(api.promoteAll({ paths: ['a.csv'] }))
      await Promise.race([isMet, again.promise])
    })
    expect(outcomesOf(await api.promoteAll({ paths: ['a.csv'] }))).toEqual(all('promoted', ['a.csv']))
    expect(outcomesOf(await again.promise)).toEqual(all('kept', ['a.csv']))
  })

  const BOTH = [{ prefix: '' }, { paths: ['output/a.csv', PATH] }]
  it.each(BOTH)('keeps the document of an unchanged file: %j', async (body) => {
    const api = prepare(['output/a.csv'])
    const first = listOf(await api.promoteAll(body))
    const again = await api.promoteAll(body)
    expect(listOf(again).data).toEqual(first.data.map((item) => ({ ...item, outcome: 'kept' })))
    expect(again.headers).toMatchObject({ 'storage-used-bytes': '16' })

    api.putFile(PATH, Buffer.from('changed'), 'text/csv')
    const outcomes = [...all('kept', ['output/a.csv']), ...all('promoted', [PATH])]
    expect(outcomesOf(await api.promoteAll(body))).toEqual(outcomes)
    expect(api.stored.documents().length).toBe(3)
  })

  it('keeps what another request has made of the same file meanwhile, though there is room for one only', async () => {
    const api = prepare()
    await api.workspaces.create(WORKSPACE, { quotaBytes: CSV.length }, AbortSignal.timeout(1000))
    afterNext(api.documents, 'findAll', async () =>
      expect(outcomesOf(await api.promoteAll({ paths: [PATH] }))).toEqual(all('promoted', [PATH])),
    )
    expect(outcomesOf(await api.promoteAll({ paths: [PATH] }))).toEqual(all('kept', [PATH]))
  })

  it('makes no document that a promotion with an Idempotency-Key could make', async () => {
    const api = prepare()
    await api.promoteAll({ prefix: '' })
    const [made] = api.stored.documents()
    for (const key of [`${CONTAINER}${PATH}${made?.sourceEtag}`, String(made?.documentId)]) {
      const { body } = await api.promote(withKey(key))
      expect(body).not.toMatchObject({ id: made?.documentId })
    }
  })

  it('answers with an empty list for a prefix that no file has, which it says, and after the last file', async () => {
    const api = prepare()
    const none = { object: 'list', data: [], has_more: false, next: null }
    const detail = 'The container has no file whose path begins with "none/".'
    expect((await api.promoteAll({ prefix: 'none/' })).body).toEqual({ ...none, detail })
    for (const body of [{ prefix: '' }, { paths: [PATH] }]) {
      expect((await api.promoteAll({ ...body, after: formatFileId('z') })).body).toEqual(none)
    }
  })

  it('looks for the document of a file that changed after it was listed', async () => {
    const api = prepare()
    const changed = Buffer.from('changed')
    api.putFile(PATH, changed)
    await api.promoteAll({ prefix: '' })
    api.putFile(PATH, CSV)
    const { findContainerFile } = api.objects
    vi.spyOn(api.objects, 'findContainerFile').mockImplementationOnce((...args) => {
      api.putFile(PATH, changed)
      return findContainerFile(...args)
    })
    expect(outcomesOf(await api.promoteAll({ prefix: '' }))).toEqual([[PATH, 'kept']])
    expect(api.stored.documents().length).toBe(1)
  })

  it('copies what is copied in parts one after the other, in order, and others meanwhile', async () => {
    const paths = manyPaths(12)
    const api = prepare(paths)
    api.objects.copiesWhole = (sizeBytes) => sizeBytes <= 100
    const large = ['many/000.csv', 'many/004.csv', 'many/008.csv']
    for (const path of large) api.putFile(path, Buffer.alloc(101))
    const { copy } = api.objects
    const order: string[] = []
    let [running, isBeside] = [0, false]
    vi.spyOn(api.objects, 'copy').mockImplementation(async (request, signal) => {
      const { sizeBytes, objectKey } = request.source
      if (sizeBytes <= 100) isBeside ||= running > 0
      else {
        expect(running++).toBe(0)
        order.push(objectKey.slice(objectKey.indexOf('many/')))
        for (let turn = 0; turn < 100; turn++) await null
        running--
      }
      return copy(request, signal)
    })
    expect(outcomesOf(await api.promoteAll({ prefix: 'many/' }))).toEqual(all('promoted', paths))
    expect([order, isBeside]).toEqual([large, true])
  })

  it('counts each file in log and metrics, refusals by their reason, and a quota that is nearly full', async () => {
    const api = prepare(['a.csv', 'b.csv'])
    await api.promoteAll({ paths: ['a.csv'] })
    api.published.splice(0)
    await api.promoteAll({ paths: ['a.csv', 'b.csv', PATH, 'x', 'y'] })
    expect(api.published).toContainEqual({ Promotions: 2, PromotedBytes: 16, Replays: 1 })
    expect(api.published).toContainEqual({ Refusals: 2, reason: 'container_file_not_found' })
    const line = { operation: 'promote_container_files', container_id: CONTAINER, promoted: 2, kept: 1, refused: 2 }
    expect(api.logged.at(-1)).toMatchObject(line)
    expect(JSON.stringify(api.logged)).not.toContain('b.csv')
    for (const path of ['c', 'd']) api.putFile(path, Buffer.alloc(438))
    await api.promoteAll({ paths: ['c', 'd'] })
    expect(api.published).toContainEqual({ Promotions: 2, PromotedBytes: 876, QuotaNearlyFull: 1 })
  })
})
