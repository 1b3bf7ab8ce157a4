import {
  GetBucketEncryptionCommand,
  GetBucketOwnershipControlsCommand,
  GetBucketPolicyCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { advice, type Check, problem, setupCheck } from './check.ts'

interface Statement {
  Effect?: string
  Principal?: unknown
  Action?: string | string[]
  Condition?: { Bool?: Record<string, string | boolean> }
}

/** Access to a bucket: what a bucket of the stack has by itself, and an existing one may lack. */
export function bucketAccessChecks(bucket: string, client: S3Client): Check[] {
  return [transportCheck(bucket, client), ownershipCheck(bucket, client), keyCheck(bucket, client)]
}

function transportCheck(Bucket: string, client: S3Client): Check {
  return setupCheck(`TLS only to ${Bucket}`, 's3:GetBucketPolicy', async (abortSignal) => {
    const open = advice('its policy allows requests without TLS; deny s3:* where aws:SecureTransport is false')
    try {
      const { Policy = '{}' } = await client.send(new GetBucketPolicyCommand({ Bucket }), { abortSignal })
      const statements: Statement[] = [JSON.parse(Policy).Statement ?? []].flat()
      return statements.some(deniesPlainHttp) ? 'requests without TLS are refused' : open
    } catch (error) {
      if (isNamed(error, 'NoSuchBucketPolicy')) return open
      throw error
    }
  })
}

function deniesPlainHttp({ Effect, Principal, Action, Condition }: Statement): boolean {
  const isForAll = Principal === '*' || (Principal as { AWS?: unknown } | undefined)?.AWS === '*'
  const isAnything = [Action].flat().some((action) => action === 's3:*' || action === '*')
  return Effect === 'Deny' && isForAll && isAnything && String(Condition?.Bool?.['aws:SecureTransport']) === 'false'
}

function ownershipCheck(Bucket: string, client: S3Client): Check {
  return setupCheck(`ownership in ${Bucket}`, 's3:GetBucketOwnershipControls', async (abortSignal) => {
    const withAcls = advice(
      'ACLs are in force: an object of another account may be refused to us; set BucketOwnerEnforced',
    )
    try {
      const answer = await client.send(new GetBucketOwnershipControlsCommand({ Bucket }), { abortSignal })
      const isEnforced = answer.OwnershipControls?.Rules?.[0]?.ObjectOwnership === 'BucketOwnerEnforced'
      return isEnforced ? 'the bucket owner owns all objects' : withAcls
    } catch (error) {
      if (isNamed(error, 'OwnershipControlsNotFoundError')) return withAcls
      throw error
    }
  })
}

function keyCheck(Bucket: string, client: S3Client): Check {
  return setupCheck(`encryption key of ${Bucket}`, 'kms:DescribeKey', async (abortSignal) => {
    const answer = await client.send(new GetBucketEncryptionCommand({ Bucket }), { abortSignal })
    const rule = answer.ServerSideEncryptionConfiguration?.Rules?.[0]?.ApplyServerSideEncryptionByDefault
    const KeyId = rule?.KMSMasterKeyID
    if (KeyId === undefined) return "AWS's own"
    const { DescribeKeyCommand, KMSClient } = await import('@aws-sdk/client-kms')
    const { KeyMetadata } = await new KMSClient({}).send(new DescribeKeyCommand({ KeyId }), { abortSignal })
    if (KeyMetadata?.KeyState === 'Enabled') return `${KeyMetadata.Arn}, enabled`
    return problem(`${KeyId} is ${KeyMetadata?.KeyState}: nothing can be read or written with it; enable it`)
  })
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name
}
