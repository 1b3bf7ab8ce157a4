import assert from 'node:assert/strict'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { newToken } from '../../lib/auth/api-token.ts'
import { formatKeyCursor } from '../../lib/containers/key-cursor.ts'
import { formatCursor } from '../../lib/documents/list-cursor.ts'
import { formatFileId, type WorkspaceId } from '../../lib/ids.ts'
import type { WorkspaceDocument } from '../../lib/ledger/ports/documents.ts'
import { anyText } from '../support/api/any-text.ts'
import { addLink } from '../support/api/links.ts'
import type { AnyResponse } from '../support/api/openapi.ts'
import { OPERATION_NAMES } from '../support/api/operations.ts'
import { CONTAINER, CSV, createTestApi, FOREIGN, PATH, UNLIMITED } from '../support/api/test-api.ts'
import { assertProperty } from '../support/assert-property.ts'
import { contentOf } from '../support/aws/memory-s3.ts'
import { casesOf } from '../support/depth.ts'

const CASES = casesOf('HOSTILE_CASES', 30_000)
const SECRET = 'the secret of another workspace'
const FOREIGN_PATH = 'their/secret-plan.txt'

/** Two workspaces, each with a container file and documents; the attacker has keys of the first. */
async function prepare() {
  const api = createTestApi({ rateLimiter: UNLIMITED, maxFileBytes: 10 ** 9 })
  api.putFile(FOREIGN_PATH, Buffer.from(SECRET), 'text/csv', FOREIGN, 'sess_2')
  for (let i = 0; i < 3; i++) {
    await api.promote()
    await api.promote({ containerId: 'sess_2', path: FOREIGN_PATH, token: api.foreignToken })
  }
  const documents = api.stored.documents()
  const of = (workspaceId: string) => documents.filter((document) => document.workspaceId === workspaceId)
  return { ...api, own: of('ws_1'), foreign: of('ws_2') }
}

/** @returns tells the keys and prefixes of containers that the API has looked at or copied from since it was asked last */
function watchContainers({ objects }: Awaited<ReturnType<typeof prepare>>): () => string[] {
  const looks = [vi.spyOn(objects, 'findContainerFile'), vi.spyOn(objects, 'hasContainer')]
  const copies = vi.spyOn(objects, 'copy')
  return () => {
    const touched = looks.flatMap(({ mock }) => mock.calls.map(([key]) => key))
    touched.push(...copies.mock.calls.map(([{ source }]) => source.objectKey))
    for (const spy of [...looks, copies]) spy.mockClear()
    return touched
  }
}

/** Paths that try to mean another place: the other workspace's file, by every road there is. */
const hostilePath = fc
  .array(
    fc.constantFrom(
      ...['..', '.', '', '/', '\\', '%2e%2e', '%2f', '..%2f', '\u0000', 'ws_2', 'sess_2', 'sandboxes', 'documents'],
      ...[PATH, `../../ws_2/sess_2/${FOREIGN_PATH}`, '\u202e', '‥', '．．', 'x'.repeat(300)],
    ),
    { minLength: 1, maxLength: 8 },
  )
  .chain((parts) => fc.constantFrom('/', '\\', '%2F', '').map((separator) => parts.join(separator)))
/** Slashes, dots and surrogates in UTF-8 that is none. */
const brokenUtf8 = fc
  .constantFrom('c0aec0ae2f', 'e080af', 'f08080af', 'eda080', 'fffe2e00', '2e2e2f')
  .map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')))
const bytesId = (bytes: Uint8Array) => `cfile_${Buffer.from(bytes).toString('base64url')}`
// Right values come often enough that some requests get through to the file.
const fileId = fc.oneof(
  { weight: 3, arbitrary: fc.constant(formatFileId(PATH)) },
  hostilePath.map(formatFileId),
  fc.oneof(fc.uint8Array({ maxLength: 60 }), brokenUtf8).map(bytesId),
  anyText({ maxLength: 50 }).map(formatFileId),
  fc.base64String({ maxLength: 80 }).map((text) => `cfile_${text}`),
  hostilePath,
  hostilePath.map((path) => `cfile_${encodeURIComponent(path)}`),
  anyText(),
  fc.constantFrom('', 'cfile_', 'cfile_=', 'file_1', `cfile_${'A'.repeat(20_000)}`, undefined),
)
const containerId = fc.oneof(
  { weight: 3, arbitrary: fc.constant(CONTAINER) },
  fc.constantFrom(
    ...['sess_2', '', '.', '..', '../ws_2/sess_2', '..%2Fws_2%2Fsess_2', '%2e%2e', `${CONTAINER}/../../ws_2/sess_2`],
    ...['x'.repeat(10_000), 'null', '__proto__', 'constructor', undefined],
  ),
  hostilePath,
  anyText(),
)
/** HTTP lets this through in a header value: no control characters but tab. */
const headerValue = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code !== 0x7f)
    .map((code) => String.fromCharCode(code)),
  maxLength: 300,
})
const names = (words: string) => fc.constantFrom(...words.split(' '))
const headers = fc.dictionary(
  names(
    'File-Shape Idempotency-Key anthropic-version anthropic-workspace-id user-agent openai-beta x-stainless-lang accept ' +
      'If-Match File-Bytes File-Sha256 Prefer range X-Workspace-Id x-amz-copy-source Host __proto__ constructor',
  ),
  fc.oneof(headerValue, names('native compat_a compat_b ws_1 ws_2 application/octet-stream " \\'), fc.constant('')),
  { maxKeys: 3 },
)
const QUERY =
  'limit order purpose cursor page after after_id ids[] ids container_id scope_id before_id workspace_id __proto__'

it(`hostile input gets no 5xx and nothing outside the caller's workspace, ${CASES} times`, {
  timeout: 300_000,
}, async () => {
  const api = await prepare()
  const touched = watchContainers(api)
  const { own, foreign } = api
  const cursor = (document: WorkspaceDocument, workspaceId: string) =>
    formatCursor(workspaceId as WorkspaceId, document)
  // Cursors of the other workspace: those it was really given, and those that point at the attacker's own documents.
  const foreignCursors = [...foreign, ...own].map((document) => cursor(document, 'ws_2'))
  // And the cursors that an attacker can make for its own workspace.
  const keyCursors = ['', PATH, 'a\u0000', `../../ws_2/sess_2/${FOREIGN_PATH}`].map((path) => formatKeyCursor('', path))
  const ownCursors = [...own, ...foreign].map((document) => cursor(document, 'ws_1'))
  const documentId = fc.oneof(
    fc.constantFrom(...own.map(({ documentId: id }) => id as string)),
    fc.constantFrom(...foreign.map(({ documentId: id }) => id as string)),
    names(`. .. %2e%2e file_ __proto__ constructor ${formatFileId(PATH)} file_${'1'.repeat(9000)}`),
    anyText({ maxLength: 40 }),
  )
  const linkId = fc.oneof(
    fc.constantFrom((await addLink(api)).linkId, 'link_', 'link_00000000000'),
    anyText({ maxLength: 40 }),
  )
  const parameters = fc.record({ document_id: documentId, link_id: linkId, container_id: containerId, file_id: fileId })
  const query = fc.dictionary(
    names(QUERY),
    fc.oneof(
      names('1 2 100 desc 0 -1 1e9 asc ws_2'),
      fc.constantFrom(...foreignCursors, ...ownCursors, ...keyCursors),
      documentId,
      anyText({ maxLength: 30 }),
      fc.array(documentId, { maxLength: 3 }),
    ),
    { maxKeys: 3 },
  )
  const authorization = fc.oneof(
    { weight: 8, arbitrary: fc.constant(`Bearer ${api.managementToken}`) },
    fc.constantFrom(`Bearer ${newToken()}`, 'Bearer', 'Bearer ', `Bearer ${'x'.repeat(9000)}`, 'Basic YTpi'),
    headerValue,
  )
  const statuses = new Set<number>()

  await assertProperty(
    fc.asyncProperty(
      fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(...OPERATION_NAMES) },
        fc.constantFrom('promote' as const, 'download_container_file' as const),
      ),
      authorization,
      parameters,
      fc.option(query, { nil: undefined, freq: 1 }),
      fc.option(headers, { nil: undefined, freq: 1 }),
      async (name, key, path, search = {}, more = {}) => {
        const request = { parameters: path, headers: { ...more, Authorization: key } }
        const response = await (name === 'promote'
          ? api.promote(request)
          : api.call(name, { ...request, query: search }))
        statuses.add(response.status)
        assert(response.status < 500, `status ${response.status}`)
        for (const each of touched()) {
          assert(each.startsWith('sandboxes/ws_1/'), each)
          assert(!each.split('/').some((segment) => segment === '..' || segment === '.'), each)
          assert(Buffer.byteLength(each) <= 1024, each)
        }
        // A list for another purpose is empty, so it has nothing to go on with.
        if (name === 'list_documents' && response.status === 200 && !('purpose' in search))
          assert(!foreignCursors.includes(String(search.cursor ?? search.page)), 'a foreign cursor is taken')
        expectNothingForeign(response, JSON.stringify([path, search, more]), foreign)
      },
    ),
    { numRuns: CASES },
  )

  const ledgers = api.stored.ledgers().map(({ workspaceId }) => workspaceId)
  expect(ledgers.toSorted()).toEqual(['ws_1', 'ws_2'])
  for (const document of foreign) expect(api.stored.documents()).toContainEqual(document)
  for (const [key, object] of api.objects.documents) {
    expect(contentOf(object).toString()).toBe(key.startsWith('documents/ws_2/') ? SECRET : CSV.toString())
  }
  // The generator reaches every kind of answer.
  expect([...statuses]).toEqual(expect.arrayContaining([200, 302, 400, 401, 403, 404]))
})

function expectNothingForeign({ body, headers: sent }: AnyResponse, request: string, foreign: WorkspaceDocument[]) {
  const text = JSON.stringify([body, sent])
  assert(!text.includes(SECRET), 'a foreign file is shown')
  assert(!decodeURIComponent(sent.location ?? '').includes('/ws_2/'), sent.location)
  for (const { documentId, filename } of foreign) {
    // A refusal may repeat what it was asked for.
    assert(request.includes(documentId) || !text.includes(documentId), `${documentId} is shown`)
    assert(!(text.includes(filename) && 'data' in (body as object)), `${filename} is listed`)
  }
  const { data = [], id } = body as { data?: { id: string }[]; id?: string }
  const shown = [...data.map((each) => each.id), id]
  assert(!foreign.some(({ documentId }) => shown.includes(documentId)), 'a foreign document is shown')
}
