import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const AUTHORIZATION = /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/

/**
 * Whether a request to S3 is signed (Signature Version 4, "Create a signed AWS API request") for the very bytes of its
 * headers, as a server receives them; the embedded S3 does not check that.
 */
export function isSignedFor(request: IncomingMessage, secretAccessKey: string): boolean {
  const [, scope = '', names = '', signature] = AUTHORIZATION.exec(request.headers.authorization ?? '') ?? []
  const url = new URL(request.url ?? '', 'http://s3')
  const query = [...url.searchParams].map((pair) => pair.map(encodeURIComponent).join('=')).sort()
  // Node.js gives one character for each byte.
  const headers = names.split(';').map((name) => `${name}:${String(request.headers[name]).replace(/ +/g, ' ')}\n`)
  const payload = String(request.headers['x-amz-content-sha256'])
  const canonical = [request.method, url.pathname, query.join('&'), headers.join(''), names, payload].join('\n')
  const canonicalHash = createHash('sha256').update(canonical, 'latin1').digest('hex')
  const toSign = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, canonicalHash].join('\n')
  let key: Buffer | string = `AWS4${secretAccessKey}`
  for (const part of scope.split('/')) key = createHmac('sha256', key).update(part).digest()
  return createHmac('sha256', key).update(toSign).digest('hex') === signature
}
