import {
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketVersioningCommand,
  GetPublicAccessBlockCommand,
  HeadBucketCommand,
  type LifecycleRule,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { Config } from '../../../lib/config.ts'
import { createObjectKeys } from '../../../lib/object-keys.ts'
import { advice, type Check, problem, setupCheck } from './check.ts'

export function bucketChecks(config: Config, client: S3Client): Check[] {
  const { sandboxBucket, documentsBucket, keyTemplates } = config
  return [
    ...[...new Set([sandboxBucket, documentsBucket])].flatMap((bucket) => [
      reachableCheck(bucket, client),
      publicAccessCheck(bucket, client),
      encryptionCheck(bucket, client),
    ]),
    versioningCheck(documentsBucket, client),
    lifecycleCheck(documentsBucket, createObjectKeys(keyTemplates).workspacesPrefix, client),
  ]
}

function reachableCheck(Bucket: string, client: S3Client): Check {
  return {
    name: `bucket ${Bucket}`,
    async look(abortSignal) {
      try {
        await client.send(new HeadBucketCommand({ Bucket }), { abortSignal })
        return 'reachable'
      } catch (error) {
        // Answers to HeadBucket have no body: the status is all there is.
        const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
        if (status === 404) return problem('it does not exist')
        if (status === 403) return problem('refused: another account has it, or these credentials lack s3:ListBucket')
        if (status === 301) return problem('it is in another region')
        throw error
      }
    },
  }
}

function publicAccessCheck(Bucket: string, client: S3Client): Check {
  return setupCheck(`public access to ${Bucket}`, 's3:GetBucketPublicAccessBlock', async (abortSignal) => {
    const open = problem('not blocked in full: one wrong policy opens the files to everybody; block all public access')
    try {
      const answer = await client.send(new GetPublicAccessBlockCommand({ Bucket }), { abortSignal })
      const block = answer.PublicAccessBlockConfiguration
      const isBlocked =
        block?.BlockPublicAcls && block.BlockPublicPolicy && block.IgnorePublicAcls && block.RestrictPublicBuckets
      return isBlocked ? 'blocked' : open
    } catch (error) {
      if (isNamed(error, 'NoSuchPublicAccessBlockConfiguration')) return open
      throw error
    }
  })
}

function encryptionCheck(Bucket: string, client: S3Client): Check {
  return setupCheck(`encryption of ${Bucket}`, 's3:GetEncryptionConfiguration', async (abortSignal) => {
    const answer = await client.send(new GetBucketEncryptionCommand({ Bucket }), { abortSignal })
    const rule = answer.ServerSideEncryptionConfiguration?.Rules?.[0]?.ApplyServerSideEncryptionByDefault
    return rule?.SSEAlgorithm ? `by ${rule.SSEAlgorithm}` : problem('there is no default encryption; set one')
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
    const lacking = problem('no rule aborts unfinished uploads of documents: S3 keeps and bills their parts; add one')
    try {
      const { Rules = [] } = await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket }), { abortSignal })
      const enabled = Rules.filter(({ Status }) => Status === 'Enabled')
      const deleting = enabled.find((rule) => touches(rule, prefix) && (rule.Expiration?.Days || rule.Expiration?.Date))
      if (deleting) return problem(`its rule "${deleting.ID}" deletes documents by their age, still counted; remove it`)
      const aborting = enabled.find((rule) => rule.AbortIncompleteMultipartUpload && covers(rule, prefix))
      return aborting
        ? `aborts unfinished uploads after ${aborting.AbortIncompleteMultipartUpload?.DaysAfterInitiation} days`
        : lacking
    } catch (error) {
      if (isNamed(error, 'NoSuchLifecycleConfiguration')) return lacking
      throw error
    }
  })
}

// Old rules have their prefix at the top, newer ones in a filter.
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

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name
}
