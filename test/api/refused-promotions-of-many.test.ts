import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import { UnreadableItemError } from '../../lib/ledger/ports/unreadable-item.ts'
import { expectUntouched, refusalOf } from '../support/api/promotion-answers.ts'
import { listOf, manyPaths, outcomesOf, usePromotionsOfMany } from '../support/api/promotions-of-many.ts'
import { CSV, FOREIGN, PATH } from '../support/api/test-api.ts'

const prepare = usePromotionsOfMany()

describe('POST /v1/containers/{container_id}/promote: one file is refused', () => {
  it('that would be refused alone: too large, archived, no file, beyond the quota', async () => {
    const api = prepare(['a.csv'], { maxFileBytes: 900 })
    api.putFile('archived', CSV, { contentType: 'text/csv', storageClass: 'GLACIER' })
    api.putFile('folder', Buffer.alloc(0), 'application/x-directory')
    const sizes = { hadoop_$folder$: 0, large: 901, 'one-half': 600, 'other-half': 600 }
    for (const [path, bytes] of Object.entries(sizes)) api.putFile(path, Buffer.alloc(bytes), 'text/csv')
    const response = await api.promoteAll({ prefix: '' })
    const outcomes = outcomesOf(response)
    const ofHalves = outcomes.splice(4, 2).map(([, outcome]) => outcome)
    expect(ofHalves.toSorted()).toEqual(['promoted', 'storage_quota_exceeded'])
    expect(outcomes).toEqual([
      ['a.csv', 'promoted'],
      ['archived', 'container_file_archived'],
      ['folder', 'container_file_not_regular'],
      ['large', 'file_too_large'],
      [PATH, 'promoted'],
    ])
    expect(response.headers).toMatchObject({ 'storage-used-bytes': '616' })
  })

  it('without a write if it is larger than what was left of the quota for another; the rest is tried', async () => {
    const api = prepare([], { maxFileBytes: 2000 })
    api.putFile('kept', Buffer.alloc(900))
    await api.promoteAll({ paths: ['kept'] })
    for (const path of manyPaths(40)) api.putFile(path, Buffer.alloc(200))
    const sizes = { 'many/small': 50, 'many/too large': 2001, 'many/unfit': 1001 }
    for (const [path, bytes] of Object.entries(sizes)) api.putFile(path, Buffer.alloc(bytes))
    const begin = vi.spyOn(api.documents, 'begin')
    const response = await api.promoteAll({ prefix: 'many/' })
    const { data } = listOf(response)
    const bytes = { quota_bytes: 1000, used_bytes: 900, file_bytes: 200 }
    const metadata = { ...bytes, reason: 'storage_quota_exceeded' }
    for (const { error } of data.slice(0, 40)) expect(error).toMatchObject({ code: 403, metadata })
    expect(outcomesOf(response).slice(40)).toEqual([
      ['many/small', 'promoted'],
      ['many/too large', 'file_too_large'],
      ['many/unfit', 'storage_quota_exceeded'],
    ])
    expect(begin.mock.calls.length).toBeLessThanOrEqual(13)
  })

  const unreadable = new UnreadableItemError('it has no size')
  it.each<[string, object]>([
    ['whose document cannot be read', { findAll: unreadable, begin: unreadable }],
    ['that fails on our side', { copy: new Error('AccessDenied: secret') }],
  ])('%s; others are promoted, and the cause is in the log only', async (_, failures) => {
    const api = prepare(['a.csv'])
    for (const [name, error] of Object.entries(failures)) {
      const port: object = name === 'copy' ? api.objects : api.documents
      vi.spyOn(port as Record<string, () => Promise<never>>, name).mockRejectedValueOnce(error)
    }
    const response = await api.promoteAll({ paths: ['a.csv', PATH] })
    const outcomes = outcomesOf(response).map(([, outcome]) => outcome)
    expect(outcomes.toSorted()).toEqual(['internal_error', 'promoted'])
    expect(JSON.stringify(response.body)).not.toMatch(/secret|no size/)
    const line = { level: 'error', message: 'a file of many was not promoted', reason: 'internal_error' }
    expect(api.logged).toContainEqual(expect.objectContaining(line))
    expect(outcomesOf(await api.promoteAll({ paths: ['a.csv'] }))).toHaveLength(1)
  })
})

describe('POST /v1/containers/{container_id}/promote: refused as a whole', () => {
  const many = Array.from({ length: 101 }, (_, number) => `${number}`)
  const prefixes = ['/', '/a', '..', '../', '../../ws_2/', 'a/../', 'a/..', './', '.', 'a//', 'a\u0000']
  it.each<[detail: string, bodies: (string | object)[], reason?: string]>([
    ['must have prefix or paths', ['', 'null', '{"prefix":null}']],
    ['prefix or paths, not both', ['{"prefix":"","paths":["a"]}']],
    ['a JSON object', ['{', '[]']],
    ['prefix must be a string', [{ prefix: ['a'] }]],
    ['prefix ', prefixes.map((prefix) => ({ prefix }))],
    ['after must be', [{ prefix: '', after: 1 }]],
    ['1 to 100', [{ paths: 'a' }, { paths: [] }, { paths: many }]],
    ['paths[1] must be a string', [{ paths: ['a', null] }]],
    ['paths[2] is there twice', [{ paths: ['a', 'b', 'a'] }]],
    ['paths[0] contains an empty, "." or ".." segment', [{ paths: ['a/../b'] }]],
    ['paths[0] must be a string of Unicode', ['{"paths":["\\ud800"]}']],
    ['paths[0] contains a control character', [{ paths: ['a\u0000'] }]],
    ['paths[0] is too long', [{ paths: ['x'.repeat(1025)] }]],
    ['at most 1000000 bytes', [{ paths: many.slice(1).map((path) => path.padEnd(20_000, '-')) }]],
    // With the container.
    ['too long', [{ paths: [PATH, 'x'.repeat(1010)] }, { prefix: 'x'.repeat(1010) }], 'invalid_file_id'],
    ['file_id must be', [{ paths: [PATH], after: 'x' }], 'invalid_file_id'],
    ['start again', [{ prefix: '', after: 'cursor_!' }], 'invalid_cursor'],
  ])('is 400 because of "%s", and touches nothing', async (detail, bodies, reason = 'invalid_body') => {
    const api = prepare()
    const calls = [vi.spyOn(api.objects, 'findContainerFile'), vi.spyOn(api.objects, 'listContainerFiles')]
    for (const body of bodies) {
      const response = await api.promoteAll(body)
      expect(refusalOf(response), JSON.stringify(body)).toEqual([400, reason])
      expect(response.body).toMatchObject({ error: { metadata: { detail: expect.stringContaining(detail) } } })
    }
    expect(calls.map(({ mock }) => mock.calls)).toEqual([[], []])
    expectUntouched(api)
  })

  it("is 404 for another workspace's container, as for a missing one", async () => {
    const api = prepare()
    api.putFile('a.csv', CSV, 'text/csv', FOREIGN, 'sess_2')
    for (const body of [{ prefix: '' }, { prefix: 'a' }, { paths: ['a.csv', 'b.csv'] }]) {
      for (const containerId of ['sess_2', 'sess_none']) {
        const response = await api.promoteAll(body, { containerId })
        expect(refusalOf(response)).toEqual([404, 'container_not_found'])
        expect(response.body).toMatchObject({ error: { metadata: { container_id: containerId } } })
      }
    }
    expectUntouched(api)
  })

  it('is 403 for a prefix without the permission to read containers; paths need none', async () => {
    const api = prepare()
    const { token } = api
    const response = await api.promoteAll({ prefix: '' }, { token })
    expect(refusalOf(response)).toEqual([403, 'permission_denied'])
    expect(response.body).toMatchObject({ error: { metadata: { required_permission: 'containers:read' } } })
    expectUntouched(api)
    expect(outcomesOf(await api.promoteAll({ paths: [PATH] }, { token }))).toEqual([[PATH, 'promoted']])
  })

  it('is 503 when S3 does not list, or no document can be looked for', async () => {
    const api = prepare()
    const down = new ServiceError('service_unavailable')
    vi.spyOn(api.documents, 'findAll').mockRejectedValue(down)
    vi.spyOn(api.objects, 'listContainerFiles').mockImplementation(async function* () {
      yield* []
      throw down
    })
    for (const body of [{ prefix: '' }, { paths: [PATH] }]) {
      expect(refusalOf(await api.promoteAll(body))).toEqual([503, 'service_unavailable'])
    }
    expectUntouched(api)
  })
})
