import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newToken } from '../../lib/auth/api-token.ts'
import { formatFileId } from '../../lib/ids.ts'
import { casesOf } from '../support/depth.ts'
import { anyText } from '../support/http/any-text.ts'
import { CONTAINER, CSV, createTestApi, PATH } from '../support/http/test-api.ts'

const CASES = casesOf('HOSTILE_CASES', 20_000)

const bytesId = (bytes: Uint8Array) => `cfile_${Buffer.from(bytes).toString('base64url')}`
/** Paths that try to mean another place: the other workspace's file, by every road there is. */
const hostilePath = fc
  .array(
    fc.constantFrom(
      '..',
      '.',
      '',
      '/',
      '\\',
      '%2e%2e',
      '%2f',
      '..%2f',
      '\u0000',
      'ws_2',
      'sess_2',
      'sandboxes',
      'documents',
      PATH,
      '\u202e',
      '‥',
      '．．',
      'x'.repeat(300),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .chain((parts) => fc.constantFrom('/', '\\', '%2F', '').map((separator) => parts.join(separator)))
const hostileBytes = fc.oneof(
  fc.uint8Array({ maxLength: 60 }),
  fc
    .constantFrom(
      [0xc0, 0xae, 0xc0, 0xae, 0x2f],
      [0xe0, 0x80, 0xaf],
      [0xf0, 0x80, 0x80, 0xaf],
      [0xed, 0xa0, 0x80],
      [0xff, 0xfe, 0x2e, 0x00],
      [0x2e, 0x2e, 0x2f],
    )
    .map((bytes) => Uint8Array.from(bytes)),
)
// What is right comes often enough that some requests get through to the file.
const fileId = fc.oneof(
  fc.constant(formatFileId(PATH)),
  hostilePath.map(formatFileId),
  hostileBytes.map(bytesId),
  anyText({ maxLength: 50 }).map(formatFileId),
  fc.base64String({ maxLength: 80 }).map((text) => `cfile_${text}`),
  hostilePath,
  hostilePath.map((path) => `cfile_${encodeURIComponent(path)}`),
  anyText(),
  fc.constantFrom('', 'cfile_', 'cfile_=', 'file_1', `cfile_${'A'.repeat(20_000)}`, formatFileId(PATH), undefined),
)
const containerId = fc.oneof(
  fc.constant(CONTAINER),
  fc.constantFrom(
    CONTAINER,
    'sess_2',
    '',
    '.',
    '..',
    '../ws_2/sess_2',
    '..%2Fws_2%2Fsess_2',
    '%2e%2e',
    `${CONTAINER}/../../ws_2/sess_2`,
    'x'.repeat(10_000),
    'null',
    '__proto__',
    'constructor',
    undefined,
  ),
  hostilePath,
  anyText(),
)
/** What HTTP lets through in a header value: no control characters but tab. */
const headerValue = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code !== 0x7f)
    .map((code) => String.fromCharCode(code)),
  maxLength: 300,
})
const header = fc.tuple(
  fc.constantFrom(
    'File-Shape',
    'Idempotency-Key',
    'anthropic-version',
    'user-agent',
    'openai-beta',
    'X-Workspace-Id',
    'x-amz-copy-source',
    'Host',
    '__proto__',
    'constructor',
  ),
  fc.oneof(headerValue, fc.constantFrom('native', 'compat_a', 'compat_b', 'ws_2', '"', '\\', '')),
)
const token = fc.oneof(
  { weight: 6, arbitrary: fc.constant('own') },
  { weight: 1, arbitrary: fc.constant('unknown') },
  { weight: 1, arbitrary: headerValue },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'Bearer',
      'Bearer ',
      'Bearer null',
      `Bearer ${'x'.repeat(9000)}`,
      'Basic YTpi',
      'Bearer cfp_',
    ),
  },
)

describe('hostile input', () => {
  it(`never gets a 5xx, never leaves the caller's own prefix, ${CASES} times`, { timeout: 300_000 }, async () => {
    const decision = { isAllowed: true, remaining: 1, resetMs: 0, retryAfterMs: 0 }
    const rateLimiter = { policy: { requestsPerMinute: 1, burst: 1 }, take: async () => decision }
    const api = createTestApi({ rateLimiter, maxFileBytes: 10 ** 9 })
    api.putFile(PATH, Buffer.from('the secret of another workspace'), 'text/csv', 'ws_2', 'sess_2')
    const touched = new Set<string>()
    const { findContainerFile, hasContainer, copy } = api.objects
    api.objects.findContainerFile = (key, signal) => {
      touched.add(key)
      return findContainerFile(key, signal)
    }
    api.objects.hasContainer = (prefix, signal) => {
      touched.add(prefix)
      return hasContainer(prefix, signal)
    }
    api.objects.copy = (request, signal) => {
      touched.add(request.source.objectKey)
      return copy(request, signal)
    }
    const statuses = new Map<number, number>()

    await fc.assert(
      fc.asyncProperty(
        token,
        containerId,
        fileId,
        fc.array(header, { maxLength: 3 }),
        async (auth, container, file, headers) => {
          const authorization =
            auth === 'own' ? `Bearer ${api.token}` : auth === 'unknown' ? `Bearer ${newToken()}` : auth
          touched.clear()
          const response = await api.promote({
            containerId: container,
            fileId: file,
            headers: { ...Object.fromEntries(headers), Authorization: authorization },
          })
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
          assert(response.status < 500, `status ${response.status}`)
          for (const key of touched) {
            assert(key.startsWith('sandboxes/ws_1/'), key)
            assert(!key.split('/').some((segment) => segment === '..' || segment === '.'), key)
            assert(Buffer.byteLength(key) <= 1024, key)
          }
          assert(!JSON.stringify(response).includes('secret of another'), 'another workspace’s file is shown')
        },
      ),
      { numRuns: CASES },
    )

    expect([...api.ledger.workspaces.keys()]).toEqual(['ws_1'])
    for (const { bytes } of api.objects.documents.values()) expect(bytes.equals(CSV)).toBe(true)
    // The generator reaches every refusal that input can bring about, and the file.
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 400, 401, 404]))
  })
})
