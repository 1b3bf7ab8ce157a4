import { describe, expect, it, vi } from 'vitest'
import { type Reason, ServiceError } from '../../lib/errors.ts'
import { formatFileId } from '../../lib/ids.ts'
import type { AnyResponse } from '../support/api/openapi.ts'
import { expectRefusal, expectUntouched, refusalOf } from '../support/api/promotion-answers.ts'
import { CONTAINER, CSV, FOREIGN, PATH, useTestApi, withKey } from '../support/api/test-api.ts'

const api = useTestApi()

const id = (file_id: string | undefined) => ({ parameters: { file_id } })

it.each<[string, Parameters<typeof api.promote>[0], Reason, detail: string, more?: object]>([
  ['no container id', { parameters: { container_id: undefined } }, 'invalid_container_id', 'container_id must be'],
  ['a percent-encoded one', { parameters: { container_id: 'a%2Fb' } }, 'invalid_container_id', 'container_id must be'],
  ['no file id', id(undefined), 'invalid_file_id', 'file_id must be'],
  ['a document id', id('file_ChFrFraUZ8uFEyYkWpFau'), 'invalid_file_id', 'id of a document'],
  ['padding', id('cfile_YQ%3D%3D'), 'invalid_file_id', 'The id of this path is cf', { expected_file_id: 'cfile_YQ' }],
  ['a path out of the container', { path: '../other/a.txt' }, 'invalid_file_id', '".." segment'],
  ['a path whose key is too long', { path: 'x'.repeat(1020) }, 'invalid_file_id', 'too long'],
  ['a malformed If-Match', { headers: { 'If-Match': '"' } }, 'invalid_precondition', 'The If-Match header must be'],
  ['two shapes', { headers: { 'file-shape': ['native', 'compat_a'] } }, 'invalid_file_shape', 'File-Shape'],
])('POST …/promote: 400 for %s, and says so', async (_, request, reason, detail, more) => {
  const lookUp = vi.spyOn(api.objects, 'findContainerFile')
  expectRefusal(await api.promote(request), reason, { detail: expect.stringContaining(detail), ...more })
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
    const expected_file_id = formatFileId(stored)
    const why = { detail: expect.stringContaining(expected_file_id), expected_file_id }
    expectRefusal(await api.promote({ path }), 'container_file_not_found', { container_id: CONTAINER, path, ...why })
    expectUntouched(api)
  })

  it.each([
    ['has one form only', 'missing.txt', 1],
    ['is too long in the other form', 'é'.repeat(495), 1],
    ['cannot be looked for in the other form', NFC, 2],
  ])('for a file that the container does not have: its path %s', async (_, path, lookUps) => {
    const lookUp = vi.spyOn(api.objects, 'findContainerFile').mockResolvedValueOnce(undefined).mockRejectedValue(DOWN)
    expectRefusal(await api.promote({ path }), 'container_file_not_found', { container_id: CONTAINER, path })
    expect(lookUp).toHaveBeenCalledTimes(lookUps)
    expectUntouched(api)
  })

  it("for an unknown container and for another workspace's container, in the same words", async () => {
    api.putFile(PATH, CSV, 'text/csv', FOREIGN, 'sess_2')
    const foreign = await api.promote({ containerId: 'sess_2' })
    const unknown = await api.promote({ containerId: 'sess_3' })
    const without = (response: AnyResponse) =>
      JSON.stringify(response.body).replace(response.headers['x-request-id'] ?? '', '')
    expect(without(foreign).replace('sess_2', 'sess_3')).toBe(without(unknown))
    expectRefusal(foreign, 'container_not_found', { container_id: 'sess_2', path: PATH })
    expectUntouched(api)
  })

  it.each([
    ['a', 'application/x-directory; charset=UTF-8', true],
    ['a', 'httpd/unix-directory', true],
    ['a', 'inode/symlink', true],
    ['a', 'Inode/FIFO', true],
    // Hadoop's mark of a directory.
    ['out_$folder$', undefined, false],
  ])('for the empty object %s of type %s, but not for one with bytes; a list shows it: %s', async (...row) => {
    const [path, type, isListed] = row
    const list = async () => (await api.call('list_container_files')).body
    api.putFile(path, Buffer.alloc(0), type)
    const refusals = [await api.promote({ path })]
    for (const name of ['retrieve_container_file', 'download_container_file'] as const)
      refusals.push(await api.call(name, { path }))
    expect(refusals.map(refusalOf)).toEqual(Array(3).fill([404, 'container_file_not_regular']))
    expectUntouched(api)
    expect(await list()).toMatchObject({ data: [...(isListed ? [{ path, bytes: 0 }] : []), { path: PATH }] })
    api.clock.nowMs += 2000
    api.putFile(path, CSV, type)
    expect((await api.promote({ path })).body).toMatchObject({ mime_type: 'text/plain; charset=utf-8' })
    expect(await list()).toMatchObject({ data: [{ path }, { path: PATH }] })
  })

  it('container_file_encrypted for a file that S3 lets nobody read, with nothing copied', async () => {
    const reason = 'container_file_encrypted'
    const cause = new Error('why')
    vi.spyOn(api.objects, 'findContainerFile').mockRejectedValue(new ServiceError(reason, { cause }))
    expectRefusal(await api.promote(), reason)
    expect(api.logged.at(-1)).toMatchObject({ level: 'info', error: cause })
    expect(refusalOf(await api.promote(withKey()))).toEqual([404, reason])
    expectUntouched(api)
  })
})

it('POST …/promote: 413 for a file a byte above the largest, with both sizes, before any copy', async () => {
  api.putFile('big.bin', Buffer.alloc(501))
  const copy = vi.spyOn(api.objects, 'copy')
  const response = await api.promote({ path: 'big.bin' })
  expectRefusal(response, 'file_too_large', { file_bytes: 501, max_file_bytes: 500 })
  expect(copy).not.toHaveBeenCalled()
  expectUntouched(api)
})
