import { type LifecycleRule, S3 } from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'
import { bucketSetupChecks } from '../../../infra/cli/doctor/buckets.ts'
import { runCheck } from '../../../infra/cli/doctor/check.ts'
import { CONFIG } from '../../support/dynamodb/memory-tables.ts'
import { clientOf } from '../../support/stores/client-of.ts'

const { signal } = new AbortController()
const ABORTING = { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 2 } }
const [OK, OFF] = [/^aborts unfinished uploads after 2 days$/, /^no rule aborts /]
const UPLOADS = 'unfinished uploads in sandboxes'

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
  const [found] = bucketSetupChecks(CONFIG, s3).filter(({ name }) => name === check)
  expect(found && (await runCheck(found, 1000, signal))).toEqual({
    check,
    verdict,
    detail: expect.stringMatching(detail),
  })
})
