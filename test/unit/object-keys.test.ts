import { describe, expect, it } from 'vitest'
import type { AttemptId, ContainerId, DocumentId, FilePath, WorkspaceId } from '../../lib/ids.ts'
import { createObjectKeys, keysOfWorkspace, problemsInTemplates } from '../../lib/object-keys.ts'

const TEMPLATES = {
  sandbox: 'sandboxes/{workspace_id}/{container_id}/{path}',
  document: 'documents/{workspace_id}/{document_id}/{attempt_id}',
}
const workspaceId = 'ws_1' as WorkspaceId
const containerId = 'sess_1' as ContainerId

const ids = { workspaceId, documentId: 'file_1' as DocumentId, attemptId: 'att1' as AttemptId }
const keys = createObjectKeys(TEMPLATES)

describe('createObjectKeys', () => {
  const PATTERNS = ['{workspace_id}', '$&', "$'", '$1', '{path}']
  it.each(PATTERNS)('takes the path %s for what it is, not for a pattern', (path) => {
    const key = keys.sandboxFile({ workspaceId, containerId, path: path as FilePath })
    expect(key).toBe(`sandboxes/ws_1/sess_1/${path}`)
  })

  it('refuses a path whose key would be longer than S3 allows, counted in bytes', () => {
    const room = 1024 - 'sandboxes/ws_1/sess_1/'.length
    const fits = 'é'.repeat(room / 2) as FilePath
    expect(Buffer.byteLength(keys.sandboxFile({ workspaceId, containerId, path: fits }))).toBe(1024)
    const tooLong = () => keys.sandboxFile({ workspaceId, containerId, path: `${fits}x` as FilePath })
    expect(tooLong).toThrow(expect.objectContaining({ reason: 'invalid_file_id' }))
  })
})

describe('idsOf and workspaceIdOf', () => {
  it('read back what was put into a key', () => {
    expect(keys.idsOf(keys.documentObject(ids))).toEqual({ documentId: 'file_1', attemptId: 'att1' })
    expect(keys.workspaceIdOf(keys.workspacePrefix(workspaceId))).toBe(workspaceId)
  })

  const OTHER_KEYS = ['documents/ws_1/README.md', 'documents/ws_1/file_1/att1/x', 'sandboxes/ws_1/file_1/att1', '']
  it.each(OTHER_KEYS)('do not take %j for the object of a document', (key) => {
    expect(keys.idsOf(key)).toBeUndefined()
  })
})

it.each([
  ['s/{workspace_id}/{container_id}/{path}', 's/ws_1/', ['s/ws_1/c/a', 's/ws_1/odd key'], ['s/ws_10/c/a', 's/ws_1']],
  ['{workspace_id}/in/c-{container_id}/{path}', 'ws_1/in/c-', ['ws_1/in/c-1/a'], ['ws_1/other', 'ws_10/in/c-1/a']],
  ['d/x-{workspace_id}-y/{document_id}/{attempt_id}', 'd/x-ws_1-y/', ['d/x-ws_1-y/f/a'], ['d/x-ws_1-y-y/f/a']],
  [
    'a.b/{container_id}/{workspace_id}/{path}',
    'a.b/',
    ['a.b/c/ws_1/f'],
    ['a.b/c/ws_10/f', 'a.b/c/d/ws_1/f', 'axb/c/ws_1/f'],
  ],
  ['c-{container_id}/x/{workspace_id}/{path}', 'c-', ['c-1/x/ws_1/f'], ['c-1/x/ws_2/ws_1/f', 'c-1/y/ws_1/f']],
])('keysOfWorkspace are, by %s, those under %s that have its id in its place', (template, prefix, its, others) => {
  const keys = keysOfWorkspace(template, workspaceId)
  expect(keys.prefix).toBe(prefix)
  for (const key of its) expect([key, key.startsWith(prefix) && keys.owns(key)]).toEqual([key, true])
  for (const key of others) expect([key, keys.owns(key)]).toEqual([key, false])
})

describe('problemsInTemplates', () => {
  const faults = (change: Partial<typeof TEMPLATES>, sameBucket = false) => [
    ...problemsInTemplates({ ...TEMPLATES, ...change }, sameBucket),
  ]

  it.each([
    [{}],
    [{ sandbox: 'tenants/{workspace_id}/box-{container_id}/root/{path}' }],
    [
      {
        sandbox: 'tenants/{workspace_id}/sandboxes/{container_id}/{path}',
        document: 'tenants/{workspace_id}/kept/{document_id}/{attempt_id}',
      },
    ],
  ])('accepts %j, in one bucket or two', (change) => {
    expect(faults(change, false)).toEqual([])
    expect(faults(change, true)).toEqual([])
  })

  it.each([
    ['no workspace', { sandbox: 'sandboxes/{container_id}/{path}' }, '{workspace_id} exactly once'],
    ['a workspace twice', { sandbox: '{workspace_id}/{workspace_id}/{container_id}/{path}' }, '{workspace_id} exactly'],
    ['no attempt', { document: 'documents/{workspace_id}/{document_id}' }, '{attempt_id} exactly once'],
    ['two ids in one segment', { sandbox: 'x/{workspace_id}-{container_id}/{path}' }, 'two placeholders in one'],
    ['a path that is not last', { sandbox: 'x/{workspace_id}/{path}/{container_id}' }, 'must end in /{path}'],
    ['a path in a segment with others', { sandbox: 'x/{workspace_id}/{container_id}/f-{path}' }, 'must end in /{path}'],
    ['an unknown placeholder', { sandbox: 'x/{tenant}/{workspace_id}/{container_id}/{path}' }, '{tenant}'],
    ['an empty segment', { sandbox: '/{workspace_id}/{container_id}/{path}' }, 'empty'],
    ['a parent segment', { sandbox: 'x/../{workspace_id}/{container_id}/{path}' }, '".."'],
    ['a stray brace', { sandbox: 'x}/{workspace_id}/{container_id}/{path}' }, 'stray brace'],
    ['unsafe characters', { sandbox: 'x y/{workspace_id}/{container_id}/{path}' }, 'safe'],
  ])('finds %s', (_, change, fault) => {
    expect(faults(change).join('; ')).toContain(fault)
  })

  it('finds document keys that could be longer than S3 allows, and none that just fit', () => {
    const longest = { workspaceId: 'w'.repeat(128), documentId: `file_${'d'.repeat(22)}`, attemptId: 'a'.repeat(22) }
    const template = (prefixBytes: number) => `${'p'.repeat(prefixBytes - 1)}/{workspace_id}/{document_id}/{attempt_id}`
    const roomBytes = 1024 - `${longest.workspaceId}/${longest.documentId}/${longest.attemptId}`.length
    const fitting = createObjectKeys({ ...TEMPLATES, document: template(roomBytes) })
    expect(fitting.documentObject(longest as never)).toHaveLength(1024)
    expect(faults({ document: template(roomBytes) })).toEqual([])
    expect(faults({ document: template(roomBytes + 1) }).join('; ')).toContain('up to 1025 bytes')
  })

  it.each([
    [{ document: 'sandboxes/{workspace_id}/{document_id}/{attempt_id}' }],
    [{ sandbox: '{workspace_id}/{container_id}/{path}' }],
    [{ sandbox: 'x/{workspace_id}/{container_id}/{path}', document: 'x/{workspace_id}/y/{document_id}/{attempt_id}' }],
  ])('finds that %j would let a container reach the documents of the same bucket', (change) => {
    expect(faults(change, true).join('; ')).toContain('same place')
    expect(faults(change, false)).toEqual([])
  })
})
