export function nameS3Call(
  { method, path }: { method: string; path: string },
  headers: Record<string, unknown>,
): string {
  const query = new URL(path, 'http://s3').searchParams
  const isCopy = headers['x-amz-copy-source'] !== undefined
  if (method === 'HEAD') return 'HeadObject'
  if (method === 'GET' && query.has('versions')) return 'ListObjectVersions'
  if (method === 'GET')
    return query.has('uploads') ? 'ListMultipartUploads' : query.has('list-type') ? 'ListObjectsV2' : 'GetObject'
  if (method === 'DELETE') return query.has('uploadId') ? 'AbortMultipartUpload' : 'DeleteObject'
  if (method === 'POST') return query.has('uploads') ? 'CreateMultipartUpload' : 'CompleteMultipartUpload'
  if (query.has('partNumber')) return isCopy ? 'UploadPartCopy' : 'UploadPart'
  return isCopy ? 'CopyObject' : 'PutObject'
}
