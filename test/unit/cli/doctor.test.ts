import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { type LifecycleRule, S3 } from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'
import { bucketSetupChecks } from '../../../infra/cli/doctor/buckets.ts'
import { runCheck } from '../../../infra/cli/doctor/check.ts'
import { schemaCheck, tableSetupChecks } from '../../../infra/cli/doctor/tables.ts'
import { CONFIG, DECLARED, DOCUMENTS_TABLE, WORKSPACES_TABLE } from '../../support/dynamodb/memory-tables.ts'
import { clientOf } from '../../support/stores/client-of.ts'

const { signal } = new AbortController()
const ABORTING = { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 2 } }
const [OK, OFF] = [/^aborts unfinished uploads after 2 days$/, /^no rule aborts /]
const UPLOADS = 'unfinished uploads in sandboxes'
const results = (checks: Parameters<typeof runCheck>[0][]) =>
  Promise.all(checks.map((check) => runCheck(check, 1000, signal)))
const dynamoDb = (client: object): DynamoDB => Object.setPrototypeOf(client, DynamoDB.prototype)
const [WORKSPACES, DOCUMENTS] = [WORKSPACES_TABLE, DOCUMENTS_TABLE].map((name) =>
  DECLARED.filter((each) => each.TableName === name),
)

it.each<[string, Partial<LifecycleRule>[], string, RegExp]>([
  [UPLOADS, [], 'advice', OFF],
  [UPLOADS, [ABORTING], 'ok', OK],
  [UPLOADS, [{ ...ABORTING, Filter: { Prefix: 'sandboxes/' } }], 'ok', OK],
  [UPLOADS, [{ ...ABORTING, Filter: { Prefix: 'other/' } }], 'advice', OFF],
  [UPLOADS, [{ ...ABORTING, Filter: { And: { Prefix: '', ObjectSizeLessThan: 9 } } }], 'advice', OFF],
  [UPLOADS, [{ ...ABORTING, Status: 'Disabled' }], 'advice', OFF],
  ['lifecycle of documents', [{ Expiration: { Days: 1 } }], 'problem', /"r" deletes documents/],
  ['lifecycle of documents', [{ ...ABORTING, Filter: { Prefix: 'other/' } }], 'problem', OFF],
])('doctor, of the rules of a bucket, case %#', async (check, rules, verdict, detail) => {
  const Rules = rules.map((rule) => ({ ID: 'r', Status: 'Enabled', ...rule }))
  const { client } = clientOf({ GetBucketLifecycleConfigurationCommand: () => ({ Rules }) })
  const s3: S3 = Object.setPrototypeOf(client, S3.prototype)
  const checks = bucketSetupChecks(CONFIG, s3).filter(({ name }) => name === check)
  expect(await results(checks)).toEqual([{ check, verdict, detail: expect.stringMatching(detail) }])
})

it.each([
  [WORKSPACES, 'DISABLED', undefined, 'ok', 'off, as it must be'],
  [WORKSPACES, 'ENABLED', 'ttl_at', 'problem', 'on, by ttl_at: it deletes what must stay; turn it off'],
  [DOCUMENTS, 'ENABLED', 'ttl_at', 'ok', 'on, by ttl_at'],
  [DOCUMENTS, 'ENABLING', 'ttl_at', 'ok', 'on, by ttl_at'],
  [DOCUMENTS, 'ENABLED', 'due_at', 'problem', 'on, but by due_at: it must be ttl_at'],
  [DOCUMENTS, 'DISABLING', 'ttl_at', 'advice', 'off: items that nobody needs any more stay; turn it on, by ttl_at'],
  [DOCUMENTS, undefined, undefined, 'not_checked', 'the server does not say'],
])('doctor, of the expiry in a table: %#', async (tables = [], TimeToLiveStatus, AttributeName, verdict, detail) => {
  const { client } = clientOf({
    DescribeTimeToLiveCommand: () => ({ TimeToLiveDescription: { TimeToLiveStatus, AttributeName } }),
    DescribeContinuousBackupsCommand: () => ({}),
  })
  const name = tables[0]?.TableName
  expect(await results(tableSetupChecks(tables, dynamoDb(client)))).toEqual([
    expect.objectContaining({ check: `point-in-time recovery of ${name}`, verdict: 'advice' }),
    expect.objectContaining({ check: `expiry (TTL) of ${name}`, verdict, detail }),
  ])
})

it('doctor, of a table with another key: names both keys', async () => {
  const [documents] = DOCUMENTS ?? []
  const Table = { TableStatus: 'ACTIVE', KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }] }
  const { client } = clientOf({ DescribeTableCommand: () => ({ Table }) })
  const check = schemaCheck(documents as NonNullable<typeof documents>, dynamoDb(client))
  const detail = 'its key is (pk), the service needs (workspace_id, document_id): it is another table'
  expect(await results([check])).toMatchObject([{ verdict: 'problem', detail }])
})
