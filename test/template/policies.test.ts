import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { FUNCTIONS, logicalIdOf } from '../../infra/deploy/functions.ts'
import { ownerHash } from '../../lib/auth/api-token.ts'
import type { RecordedAccess } from '../support/aws-call-recorder.ts'
import type { Access } from '../support/template/iam-accesses.ts'
import { isAllowed, type Statement, unusedRights } from '../support/template/iam-policies.ts'
import { readStatements } from '../support/template/iam-template.ts'
import { packagedService } from '../support/template/packages.ts'

const PACKAGED_TABLE = 'table/container-file-promotion-e2e-'
/** The suites run on the stores of four stages, the last two in the mock account: what they are here. */
const SAME_AS: [RegExp, string][] = [
  [/table\/container-file-promotion-(local|prod|aws-trial)-/, PACKAGED_TABLE],
  [/-at-\d{8}t\d{6}z\b/, ''],
  [/\bevent-bus\/(local\b|container-[\w.-]+)/, 'event-bus/files'],
  [/container-file-promotion-(prod|aws-trial)-sandboxbucket-\w+/, 'local-sandboxes'],
  [/container-file-promotion-(prod|aws-trial)-documentsbucket-\w+/, 'local-documents'],
  [/container-file-promotion-(prod|aws-trial)-EventsQueue-\w+/, 'container-file-promotion-dev-EventsQueue-x'],
]

/** Named by tests to make calls fail. */
const MADE_UP = /^table\/not-there\b/

/** The Lambda service does these in the function's name, so no call of the function shows them. */
const OF_THE_PLATFORM = /\b(logs|xray):|^ReadStream: /

const service = await packagedService('standIns')
const byDefault = await packagedService('dev')
const recorded = await readRecordings()

async function readRecordings(): Promise<RecordedAccess[]> {
  const files = await readdir(inject('recordings'))
  const texts = await Promise.all(files.map((file) => readFile(join(inject('recordings'), file), 'utf8')))
  const lines = texts.flatMap((text) => text.split('\n').filter(Boolean))
  return lines.map((line) => JSON.parse(SAME_AS.reduce((text, [theirs, ours]) => text.replace(theirs, ours), line)))
}

/** Both buckets are the account's own. */
const inOwnBuckets = <Asked extends Access>(access: Asked): Asked => ({
  ...access,
  context: { 'aws:ResourceAccount': '<AWS::AccountId>', ...access.context },
})

const statementsOf = (id: string): Statement[] => readStatements(service, `${logicalIdOf(id)}Role`)

const allowed = (id: string, action: string, resource: string, context = {}) =>
  isAllowed(statementsOf(id), inOwnBuckets({ action, resource, context }))

describe.each(FUNCTIONS.map(({ name }) => name))(
  'the policy of %s, against every call it made in this test run',
  (id) => {
    it('allows each of them', () => {
      const accesses = recordedAccesses(id)
      const refused = accesses.filter((access) => !isAllowed(statementsOf(id), access))
      expect(refused).toEqual([])
    })

    it('allows no action that none of them needed', () => {
      const accesses = recordedAccesses(id)
      expect(unusedRights(statementsOf(id), accesses).filter((right) => !OF_THE_PLATFORM.test(right))).toEqual([])
    })

    it('has no wildcard in an action, and none for a whole resource but for tracing', () => {
      for (const { Sid, Effect, actions, resources: patterns } of statementsOf(id)) {
        expect(Effect).toBe('Allow')
        for (const action of actions) expect(action).toMatch(/^[a-z0-9]+:[A-Za-z]+$/)
        if (!actions.every((action) => action.startsWith('xray:'))) expect(patterns, Sid).not.toContain('*')
      }
    })

    it.each([
      ['another table', 'dynamodb:GetItem', 'table/their-table'],
      ['another table, to write', 'dynamodb:UpdateItem', 'table/their-table'],
      ['a table of another stage', 'dynamodb:UpdateItem', 'table/container-file-promotion-prod-workspaces'],
      ['another bucket', 's3:GetObject', 'their-bucket/documents/ws_1/file_1/a'],
      ['another bucket, to write', 's3:PutObject', 'their-bucket/documents/ws_1/file_1/a'],
      ['what lies beside the documents', 's3:GetObject', 'local-documents/other/ws_1/file_1/a'],
      ['what lies beside the documents, to write', 's3:PutObject', 'local-documents/other/ws_1/file_1/a'],
      ['what lies beside the documents, to delete', 's3:DeleteObject', 'local-documents/documents-2/ws_1/a'],
      ['what lies beside the sandboxes', 's3:GetObject', 'local-sandboxes/other/ws_1/sess_1/a.txt'],
      ['a sandbox, to delete', 's3:DeleteObject', 'local-sandboxes/sandboxes/ws_1/sess_1/a.txt'],
      ['the keys, to list', 'dynamodb:Scan', `${PACKAGED_TABLE}keys`],
      ['the stream of another table', 'dynamodb:GetRecords', `${PACKAGED_TABLE}workspaces/stream/2026-11-21T09:00`],
      ['another bus', 'events:PutEvents', 'event-bus/theirs'],
      ['another queue', 'sqs:SendMessage', 'their-queue'],
    ])('refuses %s', (_what, action, resource) => {
      expect(allowed(id, action, resource)).toBe(false)
    })

    it.each([
      ['a whole workspace at once', 'dynamodb:DeleteItem', `${PACKAGED_TABLE}workspaces`],
      ['the keys, to change', 'dynamodb:UpdateItem', `${PACKAGED_TABLE}keys`],
    ])('refuses %s, but to those who manage them', (_what, action, resource) => {
      expect(allowed(id, action, resource)).toBe(id === 'manage-workspaces')
    })

    it('refuses a sandbox, to write, but to what puts documents back', () => {
      const mayWrite = (key: string) => allowed(id, 's3:PutObject', `local-sandboxes/${key}/ws_1/sess_1/a.txt`)
      expect([mayWrite('sandboxes'), mayWrite('other')]).toEqual([id === 'write-container-files', false])
    })

    it('refuses versions, but of documents to promotions, and all to what erases workspaces', () => {
      const mayDelete = (resource: string) => allowed(id, 's3:DeleteObjectVersion', resource)
      const isEraser = id === 'erase-workspaces'
      expect(mayDelete('local-sandboxes/sandboxes/ws_1/sess_1/a.txt')).toBe(isEraser)
      expect(mayDelete('local-documents/documents/ws_1/file_1/a')).toBe(isEraser || id === 'promote-container-file')
    })

    it('lists no bucket outside its prefix', () => {
      for (const bucket of ['local-sandboxes', 'local-documents']) {
        for (const prefix of ['', 'other/', 'sandboxes-2/', 'documents-2/']) {
          expect(allowed(id, 's3:ListBucket', bucket, { 's3:prefix': prefix }), `${bucket} ${prefix}`).toBe(false)
        }
        expect(allowed(id, 's3:ListBucket', bucket), 'without a prefix').toBe(false)
      }
    })
  },
)

it('manage-workspaces writes the keys of workspaces, and no platform key', () => {
  for (const action of ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem']) {
    const mayWrite = (workspaceId?: string) =>
      allowed('manage-workspaces', action, `${PACKAGED_TABLE}keys`, {
        'dynamodb:LeadingKeys': [ownerHash(workspaceId)],
      })
    expect([mayWrite('ws_1'), mayWrite()], action).toEqual([true, false])
  }
})

it('links and keys are apart: what opens links reaches no key, what makes them writes none', () => {
  const may = (id: string, action: string, partition: string) =>
    allowed(id, `dynamodb:${action}`, `${PACKAGED_TABLE}keys`, { 'dynamodb:LeadingKeys': [partition] })
  const [keys, links] = [ownerHash('ws_1'), `links_${ownerHash('ws_1')}`]
  const actions = ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem']
  const of = (id: string, partition: string) => actions.filter((action) => may(id, action, partition))
  expect([of('open-link', links), of('open-link', keys)]).toEqual([['GetItem'], []])
  // As every function behind the gateway, it looks up the key that a request came with.
  const makes = [of('read-documents', links), of('read-documents', keys)]
  expect(makes).toEqual([['GetItem', 'Query', 'PutItem', 'DeleteItem'], ['GetItem']])
})

it('without links, no role has a right to them', () => {
  for (const { name } of FUNCTIONS.filter(({ setting }) => !setting)) {
    const statements = readStatements(byDefault, `${logicalIdOf(name)}Role`)
    expect(JSON.stringify(statements)).not.toContain('links_')
  }
})

describe('the functions that no request reaches', () => {
  it('cannot read a sandbox or a document', () => {
    for (const id of ['resolve-due-work', 'erase-workspaces'])
      for (const resource of ['sandboxes/sandboxes/ws_1/sess_1/a.txt', 'documents/documents/ws_1/file_1/a'])
        expect(allowed(id, 's3:GetObject', `local-${resource}`)).toBe(false)
    expect(allowed('audit-workspaces', 's3:GetObject', 'local-sandboxes/sandboxes/ws_1/sess_1/a.txt')).toBe(false)
  })

  it('audit-workspaces changes nothing', () => {
    const actions = statementsOf('audit-workspaces').flatMap((statement) => statement.actions)
    const writing = /:(Put|Update|Delete|Abort|Create|Batch|Transact)/
    expect(actions.length).toBeGreaterThan(5)
    expect(actions.filter((action) => !OF_THE_PLATFORM.test(action) && writing.test(action))).toEqual([])
  })
})

/** Not vacuously right: without calls the comparison would say nothing. */
function recordedAccesses(id: string): RecordedAccess[] {
  const accesses = recorded.filter(({ functionId, resource }) => functionId === id && !MADE_UP.test(resource))
  if (accesses.length === 0) throw new Error(`no call of ${id} was recorded: run npm test, then npm run test:machine`)
  return accesses.map(inOwnBuckets)
}
