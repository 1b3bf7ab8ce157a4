import {
  GetBucketLifecycleConfigurationCommand,
  GetBucketOwnershipControlsCommand,
  GetBucketPolicyCommand,
  GetBucketVersioningCommand,
  GetPublicAccessBlockCommand,
  HeadBucketCommand,
  type LifecycleRule,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { Config } from '../../../lib/config.ts'
import { createObjectKeys } from '../../../lib/object-keys.ts'
import { advice, type Check, isDenied, isNamed, problem, setupCheck } from './check.ts'

const bucketsOf = ({ sandboxBucket, documentsBucket }: Config) => [...new Set([sandboxBucket, documentsBucket])]

export const bucketChecks = (config: Config, client: S3Client) =>
  [...new Set([...bucketsOf(config), config.usageBucket])]
    .filter(Boolean)
    .map((bucket) => reachableCheck(bucket, client))

/** A bucket that the stack creates passes all of these checks; an existing one may not. */
export function bucketSetupChecks(config: Config, client: S3Client): Check[] {
  const { documentsBucket, keyTemplates } = config
  return [
    ...bucketsOf(config).flatMap((bucket) => [
      publicAccessCheck(bucket, client),
      transportCheck(bucket, client),
      ownershipCheck(bucket, client),
    ]),
    versioningCheck(documentsBucket, client),
    lifecycleCheck(documentsBucket, createObjectKeys(keyTemplates).workspacesPrefix, client),
  ]
}

function reachableCheck(Bucket: string, client: S3Client): Check {
  return {
    name: `bucket ${Bucket}`,
    run: (abortSignal) =>
      client.send(new HeadBucketCommand({ Bucket }), { abortSignal }).then(
        () => 'reachable',
        (error) => {
          if (!isDenied(error)) throw error
          return problem('refused: another account has it, or these credentials lack s3:ListBucket')
        },
      ),
  }
}

function publicAccessCheck(Bucket: string, client: S3Client): Check {
  return setupCheck(`public access to ${Bucket}`, 's3:GetBucketPublicAccessBlock', async (abortSignal) => {
    const answer = await ifSet(client.send(new GetPublicAccessBlockCommand({ Bucket }), { abortSignal }))
    const { BlockPublicAcls, BlockPublicPolicy, IgnorePublicAcls, RestrictPublicBuckets } =
      answer?.PublicAccessBlockConfiguration ?? {}
    if (BlockPublicAcls && BlockPublicPolicy && IgnorePublicAcls && RestrictPublicBuckets) return 'blocked'
    return problem('not blocked in full: one wrong policy opens the files to everybody; block all public access')
  })
}

function transportCheck(Bucket: string, client: S3Client): Check {
  return setupCheck(`TLS only to ${Bucket}`, 's3:GetBucketPolicy', async (abortSignal) => {
    const answer = await ifSet(client.send(new GetBucketPolicyCommand({ Bucket }), { abortSignal }))
    const { Policy = '' } = answer ?? {}
    if (/"Deny"/.test(Policy) && /"aws:SecureTransport"/.test(Policy))
      return 'its policy has a Deny on aws:SecureTransport'
    return advice('its policy allows requests without TLS; deny s3:* where aws:SecureTransport is false')
  })
}

function ownershipCheck(Bucket: string, client: S3Client): Check {
  return setupCheck(`ownership in ${Bucket}`, 's3:GetBucketOwnershipControls', async (abortSignal) => {
    const answer = await ifSet(client.send(new GetBucketOwnershipControlsCommand({ Bucket }), { abortSignal }))
    const isEnforced = answer?.OwnershipControls?.Rules?.[0]?.ObjectOwnership === 'BucketOwnerEnforced'
    if (isEnforced) return 'the bucket owner owns all objects'
    return advice('ACLs are in force: an object of another account may be refused to us; set BucketOwnerEnforced')
  })
}

function versioningCheck(Bucket: string, client: S3Client): Check {
  return setupCheck(`versioning of ${Bucket}`, 's3:GetBucketVersioning', async (abortSignal) => {
    const { Status } = await client.send(new GetBucketVersioningCommand({ Bucket }), { abortSignal })
    if (Status === 'Enabled') return 'on: deleted objects can be brought back'
    return advice('off: an object that is deleted is gone (docs/decisions/0008-versioned-documents.md)')
  })
}

function lifecycleCheck(Bucket: string, prefix: string, client: S3Client): Check {
  return setupCheck(`lifecycle of ${Bucket}`, 's3:GetLifecycleConfiguration', async (abortSignal) => {
    const answer = await ifSet(client.send(new GetBucketLifecycleConfigurationCommand({ Bucket }), { abortSignal }))
    const enabled = (answer?.Rules ?? []).filter(({ Status }) => Status === 'Enabled')
    const deleting = enabled.find((rule) => touches(rule, prefix) && (rule.Expiration?.Days || rule.Expiration?.Date))
    if (deleting) return problem(`its rule "${deleting.ID}" deletes documents by their age, still counted; remove it`)
    const aborting = enabled.find((rule) => rule.AbortIncompleteMultipartUpload && covers(rule, prefix))
    const days = aborting?.AbortIncompleteMultipartUpload?.DaysAfterInitiation
    if (aborting) return `aborts unfinished uploads after ${days} days`
    return problem('no rule aborts unfinished uploads of documents: S3 keeps and bills their parts; add one')
  })
}

/** S3 answers with an error when a configuration was never set. */
async function ifSet<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isNamed(error, /^(NoSuch\w+Configuration|NoSuchBucketPolicy|OwnershipControlsNotFoundError)$/)) return undefined
    throw error
  }
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
function touches(rule: LifecycleRule, prefix: string): boolean {
  return prefix.startsWith(prefixOf(rule)) || prefixOf(rule).startsWith(prefix)
}
