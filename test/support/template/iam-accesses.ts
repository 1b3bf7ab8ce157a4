import type { IncomingMessage } from 'node:http'
import { basename } from 'node:path'

/** One thing that IAM must allow: an action on a resource, in a context. */
export interface Access {
  action: string
  /** As in an ARN, without partition, region and account: `table/NAME`, `table/NAME/index/NAME`, `BUCKET`, `BUCKET/KEY`. */
  resource: string
  /** Condition keys and their values. */
  context?: Record<string, string | string[]>
}

/**
 * A request to DynamoDB, S3, a bus or a queue needs these permissions (Service Authorization Reference), in the operations
 * that the product uses.
 * @throws Error for any other: it must be added here first
 */
export function accessesOf(
  { method = '', url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  body: string,
  status: number,
): Access[] {
  const target = headers['x-amz-target']
  if (typeof target === 'string') {
    const { RequestItems = {}, ...request } = JSON.parse(body) as {
      TableName?: string
      IndexName?: string
      RequestItems?: object
      Entries?: { EventBusName: string }[]
      QueueUrl?: string
    }
    const action = target.split('.')[1]
    const { Entries = [], QueueUrl } = request
    if (target.startsWith('AWSEvents.'))
      return Entries.map(({ EventBusName }) => ({ action: `events:${action}`, resource: `event-bus/${EventBusName}` }))
    if (QueueUrl !== undefined) return [{ action: `sqs:${action}`, resource: basename(QueueUrl) }]
    const { TableName = Object.keys(RequestItems)[0], IndexName } = request
    const index = IndexName === undefined ? '' : `/index/${IndexName}`
    return [{ action: `dynamodb:${action}`, resource: `table/${TableName}${index}` }]
  }
  return s3Accesses(method, url, headers, status)
}

/** A request about an object asks for these. */
const OF_OBJECTS: Record<string, string> = { HEAD: 'GetObject', GET: 'GetObject', PUT: 'PutObject', POST: 'PutObject' }

function s3Accesses(method: string, url: string, headers: IncomingMessage['headers'], status: number): Access[] {
  const { pathname, searchParams } = new URL(url, 'http://s3')
  const resource = decodeURIComponent(pathname).slice(1)
  const [bucket = '', ...segments] = resource.split('/')
  const key = segments.join('/')
  if (key === '') return bucketAccesses(method, bucket, searchParams)
  // With any other parameter it is another operation, as `tagging` is GetObjectTagging.
  const known = /^(PUT|POST)$/.test(method) ? /^(x-id|uploads|uploadId|partNumber)$/ : /^(x-id|versionId|uploadId)$/
  const deletes = searchParams.has('uploadId') ? 'AbortMultipartUpload' : 'DeleteObject'
  const action = method === 'DELETE' ? deletes : OF_OBJECTS[method]
  if (action === undefined || [...searchParams.keys()].some((name) => !known.test(name)))
    throw new Error(`no permission is known for ${method} ${url}: add it to test/support/template/iam-accesses.ts`)
  if ('x-amz-tagging' in headers) throw new Error('a copy with tags needs s3:PutObjectTagging, too')
  const ofVersion = (versionId: unknown) => (versionId ? 'Version' : '')
  const accesses: Access[] = [{ action: `s3:${action}${ofVersion(searchParams.get('versionId'))}`, resource }]
  if (headers['x-amz-copy-source'] !== undefined) {
    const [source = '', version] = String(headers['x-amz-copy-source']).split('?versionId=')
    accesses.push({ action: `s3:GetObject${ofVersion(version)}`, resource: decodeURIComponent(source) })
  }
  // S3 tells a missing object from a forbidden one only to those who may list; it takes the key for the prefix.
  if (method === 'HEAD' && status === 404)
    accesses.push({ action: 's3:ListBucket', resource: bucket, context: { 's3:prefix': key } })
  return accesses
}

/** How a bucket is set up, by the parameter that asks for it. */
const OF_SETUP: Record<string, string> = {
  encryption: 'GetEncryptionConfiguration',
  lifecycle: 'GetLifecycleConfiguration',
  location: 'GetBucketLocation',
  ownershipControls: 'GetBucketOwnershipControls',
  policy: 'GetBucketPolicy',
  publicAccessBlock: 'GetBucketPublicAccessBlock',
  versioning: 'GetBucketVersioning',
}

function bucketAccesses(method: string, bucket: string, query: URLSearchParams): Access[] {
  const context = { 's3:prefix': query.get('prefix') ?? '' }
  if (method === 'GET' && query.has('uploads')) {
    // IAM knows no prefix of this action (Service Authorization Reference).
    return [{ action: 's3:ListBucketMultipartUploads', resource: bucket }]
  }
  if (method === 'GET' && query.has('versions')) return [{ action: 's3:ListBucketVersions', resource: bucket, context }]
  if (method === 'GET' && query.get('list-type') === '2')
    return [{ action: 's3:ListBucket', resource: bucket, context }]
  if (bucket === '') return [{ action: 's3:ListAllMyBuckets', resource: '*' }]
  if (method === 'DELETE') return [{ action: 's3:DeleteBucket', resource: bucket }]
  if (method === 'HEAD') return [{ action: 's3:ListBucket', resource: bucket }]
  if (method === 'POST' && query.has('delete')) return [{ action: 's3:DeleteObject', resource: `${bucket}/*` }]
  const asked = Object.keys(OF_SETUP).find((name) => query.has(name))
  if (method === 'GET' && asked) return [{ action: `s3:${OF_SETUP[asked]}`, resource: bucket }]
  throw new Error(
    `no permission is known for ${method} on the bucket ${bucket}: add it to test/support/template/iam-accesses.ts`,
  )
}
