import { describe, expect, it, vi } from 'vitest'
import { REASONS, ServiceError } from '../../lib/errors.ts'
import { formatFileId } from '../../lib/ids.ts'
import { UNLIMITED } from '../support/api/documents-api.ts'
import type { AnyResponse } from '../support/api/openapi.ts'
import { expectRefusal, expectUntouched, refusalOf } from '../support/api/promotion-answers.ts'
import { CONTAINER, CSV, createTestApi, PATH, useTestApi } from '../support/api/test-api.ts'

const api = useTestApi()

it.each([
  ['no container id', { containerId: undefined }, 'invalid_container_id', 'container_id must be'],
  ['a percent-encoded container id', { containerId: 'a%2Fb' }, 'invalid_container_id', 'container_id must be'],
  ['no file id', { fileId: undefined }, 'invalid_file_id', 'file_id must be'],
  ['a document id', { fileId: 'file_ChFrFraUZ8uFEyYkWpFau' }, 'invalid_file_id', 'id of a document'],
  ['padding', { fileId: 'cfile_YQ%3D%3D' }, 'invalid_file_id', 'The id of this path is cfile_YQ.', 'cfile_YQ'],
  ['a path out of the container', { fileId: formatFileId('../other/a.txt') }, 'invalid_file_id', '".." segment'],
  ['a path whose key is too long', { fileId: formatFileId('x'.repeat(1020)) }, 'invalid_file_id', 'too long'],
  ['an unknown shape', { headers: { 'file-shape': 'compat_c' } }, 'invalid_file_shape', 'File-Shape'],
  ['a malformed If-Match', { headers: { 'If-Match': '"' } }, 'invalid_precondition', 'The If-Match header must be'],
  ['a malformed File-Bytes', { headers: { 'File-Bytes': 'many' } }, 'invalid_precondition', 'The File-Bytes header'],
  ['a malformed File-Sha256', { headers: { 'File-Sha256': 'x' } }, 'invalid_precondition', 'The File-Sha256 header'],
  ['two shapes', { headers: { 'file-shape': ['native', 'compat_a'] } }, 'invalid_file_shape', 'File-Shape'],
])('POST …/promote: 400 for %s, and says so', async (_, request, reason, detail, expectedFileId?: string) => {
  const lookUp = vi.spyOn(api.objects, 'findContainerFile')
  const response = await api.promote(request)
  expectRefusal(response, 400, 'Invalid request parameters', {
    reason,
    detail: expect.stringContaining(detail),
    ...(expectedFileId && { expected_file_id: expectedFileId }),
  })
  expect(lookUp).not.toHaveBeenCalled()
  expectUntouched(api)
})

describe('POST …/promote: 404', () => {
  const [NFC, NFD, DOWN] = ['é.csv', 'e\u0301.csv', new ServiceError('service_unavailable')] as const

  it.each([
    [NFC, NFD],
    [NFD, NFC],
    ['e\u0301é.csv', 'éé.csv'],
  ])('for %j where there is %j, another Unicode form of it, whose id it names', async (path, stored) => {
    api.putFile(stored, CSV)
    const id = formatFileId(stored)
    const file = { container_id: CONTAINER, path, expected_file_id: id }
    const why = { reason: 'container_file_not_found', detail: expect.stringContaining(id) }
    expectRefusal(await api.promote({ path }), 404, 'Resource not found', { ...why, ...file })
    expectUntouched(api)
  })

  it.each([
    ['has one form only', 'missing.txt', 1],
    ['is too long in the other form', 'é'.repeat(495), 1],
    ['cannot be looked for in the other form', NFC, 2],
  ])('for a file that the container does not have: its path %s', async (_, path, lookUps) => {
    const lookUp = vi.spyOn(api.objects, 'findContainerFile').mockResolvedValueOnce(undefined).mockRejectedValue(DOWN)
    const detail = 'The container exists, but has no file at this path.'
    const missing = { reason: 'container_file_not_found', detail, container_id: CONTAINER, path }
    expectRefusal(await api.promote({ path }), 404, 'Resource not found', missing)
    expect(lookUp).toHaveBeenCalledTimes(lookUps)
    expectUntouched(api)
  })

  it("for an unknown container and for another workspace's container, in the same words", async () => {
    api.putFile(PATH, CSV, 'text/csv', 'ws_2', 'sess_2')
    const [foreign, unknown] = [
      await api.promote({ containerId: 'sess_2' }),
      await api.promote({ containerId: 'sess_3' }),
    ]
    const without = (response: AnyResponse) =>
      JSON.stringify(response.body).replace(response.headers['x-request-id'] ?? '', '')
    expect(without(foreign).replace('sess_2', 'sess_3')).toBe(without(unknown))
    expect(foreign.status).toBe(404)
    expect(foreign.body).toMatchObject({
      error: { metadata: { reason: 'container_not_found', container_id: 'sess_2', path: PATH } },
    })
    expectUntouched(api)
  })

  it.each([
    ['a', 'application/x-directory; charset=UTF-8', true],
    ['a', 'httpd/unix-directory', true],
    ['a', 'inode/symlink', true],
    ['a', 'Inode/FIFO', true],
    // Hadoop's mark of a directory.
    ['out_$folder$', undefined, false],
  ])(
    'for the empty object %s of type %s, but not for one with bytes; a list shows it: %s',
    async (path, type, isListed) => {
      const api = createTestApi({ rateLimiter: UNLIMITED })
      const parameters = { container_id: CONTAINER, file_id: formatFileId(path) }
      const list = async () => (await api.call('list_container_files', { parameters })).body
      api.putFile(path, Buffer.alloc(0), type)
      const refusals = [await api.promote({ path })]
      refusals.push(await api.call('retrieve_container_file', { parameters }))
      refusals.push(await api.call('download_container_file', { parameters }))
      expect(refusals.map(refusalOf)).toEqual(refusals.map(() => [404, 'container_file_not_regular']))
      expectUntouched(api)
      expect(await list()).toMatchObject({ data: [...(isListed ? [{ path, bytes: 0 }] : []), { path: PATH }] })
      api.putFile(path, CSV, type)
      expect((await api.promote({ path })).body).toMatchObject({ mime_type: 'text/plain; charset=utf-8' })
      expect(await list()).toMatchObject({ data: [{ path }, { path: PATH }] })
    },
  )

  it('container_file_encrypted for a file that S3 lets nobody read, with nothing copied', async () => {
    const reason = 'container_file_encrypted'
    const cause = new Error('why')
    vi.spyOn(api.objects, 'findContainerFile').mockRejectedValue(new ServiceError(reason, { cause }))
    const { detail } = REASONS[reason]
    expectRefusal(await api.promote({}), 404, 'Resource not found', { reason, detail })
    expect(api.logged.at(-1)).toMatchObject({ level: 'info', error: cause })
    const repeatable = await api.promote({ headers: { 'idempotency-key': 'k' } })
    await expect(refusalOf(repeatable)).toEqual([404, reason])
    expectUntouched(api)
  })
})

it('POST …/promote: 413 for a file a byte above the largest, with both sizes, before any copy', async () => {
  api.putFile('big.bin', Buffer.alloc(501))
  const copy = vi.spyOn(api.objects, 'copy')
  const response = await api.promote({ path: 'big.bin' })
  expectRefusal(response, 413, 'Request payload too large', {
    reason: 'file_too_large',
    detail: 'The file is larger than the largest file that can be promoted.',
    file_bytes: 501,
    max_file_bytes: 500,
  })
  expect(copy).not.toHaveBeenCalled()
  expectUntouched(api)
})
