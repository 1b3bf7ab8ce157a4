import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newToken } from '../../lib/auth/api-token.ts'
import { formatCursor, formatKeyCursor } from '../../lib/files/list-cursor.ts'
import { formatFileId, type WorkspaceId } from '../../lib/ids.ts'
import type { WorkspaceDocument } from '../../lib/promotion/document-records.ts'
import { casesOf } from '../support/depth.ts'
import { anyText } from '../support/http/any-text.ts'
import type { AnyResponse } from '../support/http/openapi.ts'
import { OPERATION_NAMES } from '../support/http/operations.ts'
import { CONTAINER, createTestApi, PATH } from '../support/http/test-api.ts'

const CASES = casesOf('HOSTILE_CASES', 10_000)
const SECRET = 'the secret of another workspace'
const FOREIGN_PATH = 'their/secret-plan.txt'

/** Two workspaces, each with a container file and documents; the attacker has a key of the first. */
async function prepare() {
  const decision = { isAllowed: true, remaining: 1, resetMs: 0, retryAfterMs: 0 }
  const rateLimiter = { policy: { requestsPerMinute: 1, burst: 1 }, take: async () => decision }
  const api = createTestApi({ rateLimiter })
  api.putFile(FOREIGN_PATH, Buffer.from(SECRET), 'text/csv', 'ws_2', 'sess_2')
  const foreignToken = api.apiKeys.add({ workspaceId: 'ws_2' as WorkspaceId, kind: 'management', keyId: 'key_2' })
  const headers = { Authorization: `Bearer ${foreignToken}` }
  const foreign = { containerId: 'sess_2', fileId: formatFileId(FOREIGN_PATH), headers }
  for (let i = 0; i < 3; i++) {
    await api.promote({})
    await api.promote(foreign)
  }
  const documents = [...api.documents.documents.values()]
  const of = (workspaceId: string) => documents.filter((document) => document.workspaceId === workspaceId)
  return { ...api, own: of('ws_1'), foreign: of('ws_2'), foreignToken }
}

const headerValue = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code !== 0x7f)
    .map((code) => String.fromCharCode(code)),
  maxLength: 100,
})

describe('hostile input to every operation', () => {
  it(`gets no 5xx and nothing of another workspace, ${CASES} times`, { timeout: 300_000 }, async () => {
    const api = await prepare()
    const { own, foreign } = api
    const cursor = (document: WorkspaceDocument, workspaceId: string) =>
      formatCursor(workspaceId as WorkspaceId, document)
    // Cursors of the other workspace: those it was really given, and those that point at the attacker's own documents.
    const foreignCursors = [...foreign, ...own].map((document) => cursor(document, 'ws_2'))
    // And the cursors that an attacker can make for its own workspace.
    const keyCursors = ['', PATH, 'a\u0000', `../../ws_2/sess_2/${FOREIGN_PATH}`].map((path) =>
      formatKeyCursor('', path),
    )
    const cursors = [
      ...foreignCursors,
      ...[...own, ...foreign].map((document) => cursor(document, 'ws_1')),
      ...keyCursors,
    ]
    const id = fc.oneof(
      fc.constantFrom(...own.map(({ documentId }) => documentId as string)),
      fc.constantFrom(...foreign.map(({ documentId }) => documentId as string)),
      fc.constantFrom(
        '',
        '.',
        '..',
        '%2e%2e',
        'file_',
        '__proto__',
        'constructor',
        formatFileId(PATH),
        `file_${'1'.repeat(9000)}`,
      ),
      anyText({ maxLength: 40 }),
    )
    const parameters = fc.record({
      document_id: id,
      container_id: fc.oneof(
        fc.constant(CONTAINER),
        fc.constantFrom('sess_2', '../ws_2/sess_2', '..%2Fws_2%2Fsess_2', '', 'x'.repeat(5000)),
        anyText({ maxLength: 20 }),
      ),
      file_id: fc.oneof(
        fc.constant(formatFileId(PATH)),
        fc.constantFrom(FOREIGN_PATH, `../../ws_2/sess_2/${FOREIGN_PATH}`, '..', '/', '').map(formatFileId),
        id,
      ),
    })
    const text = fc.oneof(anyText({ maxLength: 30 }), fc.constantFrom('', '0', '-1', '1e9', 'asc', 'ws_2'))
    const query = fc.dictionary(
      fc.constantFrom(
        'limit',
        'order',
        'purpose',
        'cursor',
        'page',
        'after',
        'after_id',
        'ids[]',
        'ids',
        'before_id',
        'workspace_id',
        '__proto__',
      ),
      fc.oneof(
        fc.constantFrom('1', '2', '100', 'desc'),
        fc.constantFrom(...cursors),
        id,
        text,
        fc.array(id, { maxLength: 3 }),
      ),
      { maxKeys: 3 },
    )
    const headers = fc.dictionary(
      fc.constantFrom(
        'File-Shape',
        'anthropic-version',
        'anthropic-workspace-id',
        'user-agent',
        'accept',
        'x-stainless-lang',
        'range',
        'Host',
      ),
      fc.oneof(headerValue, fc.constantFrom('native', 'compat_a', 'ws_1', 'ws_2', 'application/octet-stream')),
      { maxKeys: 3 },
    )
    const token = fc.oneof(
      { weight: 8, arbitrary: fc.constant(api.managementToken) },
      fc.constant(newToken()),
      headerValue,
    )
    const statuses = new Map<number, number>()

    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...OPERATION_NAMES),
        token,
        parameters,
        query,
        headers,
        async (name, key, path, search, more) => {
          const response = await api.call(name, {
            parameters: path,
            query: search,
            headers: { ...more, Authorization: `Bearer ${key}` },
          })
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
          assert(response.status < 500, `status ${response.status}`)
          // A list for another purpose is empty, so it has nothing to go on with.
          if (name === 'list_documents' && response.status === 200 && !('purpose' in search))
            assert(!foreignCursors.includes(String(search.cursor ?? search.page)), 'a foreign cursor is taken')
          expectNothingForeign(response, JSON.stringify([path, search, more]), api)
        },
      ),
      { numRuns: CASES },
    )

    expect(api.documents.documents.size).toBeGreaterThanOrEqual(3)
    for (const document of foreign) expect([...api.documents.documents.values()]).toContain(document)
    // The generator reaches every kind of answer.
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 302, 400, 401, 403, 404]))
  })
})

function expectNothingForeign(
  { body, headers }: AnyResponse,
  request: string,
  { foreign }: { foreign: WorkspaceDocument[] },
): void {
  const text = JSON.stringify([body, headers])
  assert(!text.includes(SECRET), 'a foreign file is shown')
  assert(!decodeURIComponent(headers.location ?? '').includes('/ws_2/'), headers.location)
  for (const { documentId, filename } of foreign) {
    // A refusal may repeat what it was asked for.
    assert(request.includes(documentId) || !text.includes(documentId), `${documentId} is shown`)
    assert(!(text.includes(filename) && 'data' in (body as object)), `${filename} is listed`)
  }
  const { data = [], id } = body as { data?: { id: string }[]; id?: string }
  const shown = [...data.map((each) => each.id), id]
  assert(!foreign.some(({ documentId }) => shown.includes(documentId)), 'a foreign document is shown')
}
