import type { LifecycleRule, S3 } from '@aws-sdk/client-s3'
import type { Config } from '../../../lib/config.ts'
import { createObjectKeys } from '../../../lib/object-keys.ts'
import { advice, type Check, isDenied, isNamed, problem, setupCheck } from './check.ts'

const bucketsOf = ({ sandboxBucket, documentsBucket }: Config) => [...new Set([sandboxBucket, documentsBucket])]

export const bucketChecks = (config: Config, s3: S3) => bucketsOf(config).map((bucket) => reachableCheck(bucket, s3))

/** A bucket that the stack creates passes all of these checks; an existing one may not. */
export function bucketSetupChecks(config: Config, s3: S3): Check[] {
  const { documentsBucket, sandboxBucket, keyTemplates } = config
  const { workspacesPrefix } = createObjectKeys(keyTemplates)
  return [
    ...bucketsOf(config).flatMap((bucket) => accessChecks(bucket, s3)),
    setupCheck(`versioning of ${documentsBucket}`, 's3:GetBucketVersioning', async (abortSignal) => {
      const { Status } = await s3.getBucketVersioning({ Bucket: documentsBucket }, { abortSignal })
      if (Status === 'Enabled') return 'on: deleted objects can be brought back'
      return advice('off: an object that is deleted is gone (docs/decisions/0008-versioned-documents.md)')
    }),
    setupCheck(`lifecycle of ${documentsBucket}`, 's3:GetLifecycleConfiguration', async (abortSignal) => {
      const enabled = await enabledRules(documentsBucket, s3, abortSignal)
      const deleting = enabled.find(
        (rule) => touches(rule, workspacesPrefix) && (rule.Expiration?.Days || rule.Expiration?.Date),
      )
      if (deleting) return problem(`its rule "${deleting.ID}" deletes documents by their age, still counted; remove it`)
      return abortingOf(enabled, workspacesPrefix) ?? problem(`no rule aborts unfinished uploads of documents${KEPT}`)
    }),
    setupCheck(`unfinished uploads in ${sandboxBucket}`, 's3:GetLifecycleConfiguration', async (abortSignal) => {
      const enabled = await enabledRules(sandboxBucket, s3, abortSignal)
      const [prefix = ''] = keyTemplates.sandbox.split('{')
      return abortingOf(enabled, prefix) ?? advice(`no rule aborts those of documents that are put back${KEPT}`)
    }),
  ]
}

function reachableCheck(Bucket: string, s3: S3): Check {
  const why = 'refused: another account has it, or these credentials lack s3:ListBucket'
  const explain = (error: unknown) => (isDenied(error) ? problem(why) : Promise.reject(error))
  const run = (abortSignal: AbortSignal) => s3.headBucket({ Bucket }, { abortSignal }).then(() => 'reachable', explain)
  return { name: `bucket ${Bucket}`, run }
}

const accessChecks = (Bucket: string, s3: S3): Check[] => [
  setupCheck(`public access to ${Bucket}`, 's3:GetBucketPublicAccessBlock', async (abortSignal) => {
    const answer = await s3.getPublicAccessBlock({ Bucket }, { abortSignal }).catch(unlessUnset)
    const { BlockPublicAcls, BlockPublicPolicy, IgnorePublicAcls, RestrictPublicBuckets } =
      answer?.PublicAccessBlockConfiguration ?? {}
    if (BlockPublicAcls && BlockPublicPolicy && IgnorePublicAcls && RestrictPublicBuckets) return 'blocked'
    return problem('not blocked in full: one wrong policy opens the files to everybody; block all public access')
  }),
  setupCheck(`TLS only to ${Bucket}`, 's3:GetBucketPolicy', async (abortSignal) => {
    const { Policy = '' } = (await s3.getBucketPolicy({ Bucket }, { abortSignal }).catch(unlessUnset)) ?? {}
    if (/"Deny"/.test(Policy) && /"aws:SecureTransport"/.test(Policy))
      return 'its policy has a Deny on aws:SecureTransport'
    return advice('its policy allows requests without TLS; deny s3:* where aws:SecureTransport is false')
  }),
  setupCheck(`ownership in ${Bucket}`, 's3:GetBucketOwnershipControls', async (abortSignal) => {
    const answer = await s3.getBucketOwnershipControls({ Bucket }, { abortSignal }).catch(unlessUnset)
    const isEnforced = answer?.OwnershipControls?.Rules?.[0]?.ObjectOwnership === 'BucketOwnerEnforced'
    if (isEnforced) return 'the bucket owner owns all objects'
    return advice('ACLs are in force: an object of another account may be refused to us; set BucketOwnerEnforced')
  }),
]

async function enabledRules(Bucket: string, s3: S3, abortSignal: AbortSignal): Promise<LifecycleRule[]> {
  const answer = await s3.getBucketLifecycleConfiguration({ Bucket }, { abortSignal }).catch(unlessUnset)
  return (answer?.Rules ?? []).filter(({ Status }) => Status === 'Enabled')
}

const KEPT = ': S3 keeps and bills their parts; add one'

function abortingOf(rules: LifecycleRule[], prefix: string): string | undefined {
  const aborting = rules.find((rule) => rule.AbortIncompleteMultipartUpload && covers(rule, prefix))
  const days = aborting?.AbortIncompleteMultipartUpload?.DaysAfterInitiation
  return aborting && `aborts unfinished uploads after ${days} days`
}

/** S3 answers with an error when a configuration was never set. */
function unlessUnset(error: unknown): undefined {
  if (!isNamed(error, /^(NoSuch\w+Configuration|NoSuchBucketPolicy|OwnershipControlsNotFoundError)$/)) throw error
}

// Old rules have their prefix at the top level, newer ones in a filter.
const prefixOf = (rule: LifecycleRule) => rule.Filter?.Prefix ?? rule.Filter?.And?.Prefix ?? rule.Prefix ?? ''

/** Whether a rule covers all keys with the prefix. */
function covers(rule: LifecycleRule, prefix: string): boolean {
  const { Filter } = rule
  const isNarrowed = Filter && (Filter.Tag || Filter.And || Filter.ObjectSizeGreaterThan || Filter.ObjectSizeLessThan)
  return !isNarrowed && prefix.startsWith(prefixOf(rule))
}

/** Whether a rule may cover some key with the prefix. */
const touches = (rule: LifecycleRule, prefix: string) =>
  prefix.startsWith(prefixOf(rule)) || prefixOf(rule).startsWith(prefix)
