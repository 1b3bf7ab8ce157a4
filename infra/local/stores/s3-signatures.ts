import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { escapeUri } from '@smithy/core/protocols'
import type { AwsCredentialIdentity } from '@smithy/types'
import { LOOPBACK } from '../loopback.ts'
import { S3Failure } from './s3-answers.ts'

/**
 * Refuses a request that is not signed, or not for just what it is, as S3 does (Signature Version 4, "Create a signed AWS
 * API request"). The SDK's signer could not tell: it chooses itself what it signs, and takes headers for UTF-8. Whether a
 * body has the hash that its request states is not checked.
 */
export function requireSignature(
  incoming: IncomingMessage,
  { accessKeyId, secretAccessKey }: AwsCredentialIdentity,
): void {
  const { method, url = '', headers, socket } = incoming
  const { authorization } = headers
  const [path, search] = url.split(/\?(.*)/s)
  const query = new URLSearchParams(search)
  const isPresigned = query.has('X-Amz-Algorithm')
  if (authorization === undefined && !isPresigned) throw new S3Failure(403, 'AccessDenied')
  if (authorization !== undefined && isPresigned)
    throw new S3Failure(400, 'InvalidArgument', 'Only one auth mechanism allowed')
  const parameter = (name: string) => query.get(`X-Amz-${name}`) ?? `${headers[`x-amz-${name.toLowerCase()}`]}`
  const part = (name: string) => new RegExp(`\\b${name}=([^, ]*)`).exec(`${authorization}`)?.[1] ?? ''
  const [credential = '', names = '', signature = ''] = ['Credential', 'SignedHeaders', 'Signature'].map(
    isPresigned ? parameter : part,
  )
  const signedAt = parameter('Date')
  if (isPresigned) requireTime(signedAt, Number(parameter('Expires')))
  const signed = names.split(';')
  const others = Object.keys(headers).filter((name) => name.startsWith('x-amz-') && !signed.includes(name))
  if (others.length > 0) throw new S3Failure(403, 'AccessDenied', `There were headers not signed: ${others}`)

  const pairs = [...query].filter(([name]) => name !== 'X-Amz-Signature').sort(([a], [b]) => (a < b ? -1 : 1))
  const sorted = pairs.map((pair) => pair.map(escapeUri).join('=')).join('&')
  const payload = isPresigned ? 'UNSIGNED-PAYLOAD' : parameter('Content-Sha256')
  const textFor = (host: string | undefined) => {
    const lines = signed
      .map((name) => `${name}:${name === 'host' ? host : headers[name]}\n`.replace(/ +/g, ' '))
      .join('')
    // Node.js gives one character for each byte.
    const canonical = Buffer.from([method, path, sorted, lines, names, payload].join('\n'), 'latin1')
    const hash = createHash('sha256').update(canonical).digest('hex')
    return ['AWS4-HMAC-SHA256', signedAt, credential.replace(/^.*?\//, ''), hash].join('\n')
  }
  // The functions sign for this machine's own address, which the gateway replaces for those who call by another name.
  const hosts = [headers.host, `${LOOPBACK}:${socket.localPort}`]
  const [id, ...scope] = credential.split('/')
  if (id !== accessKeyId) throw new S3Failure(403, 'InvalidAccessKeyId', `Only the key ${accessKeyId} is known here.`)
  const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest()
  const key = scope.reduce<Buffer | string>(hmac, `AWS4${secretAccessKey}`)
  if (hosts.map(textFor).some((text) => hmac(key, text).toString('hex') === signature)) return
  throw new S3Failure(403, 'SignatureDoesNotMatch', 'The request signature we calculated is not the one you provided.')
}

function requireTime(signedAt: string, lifeSeconds: number): void {
  if (lifeSeconds > 604_800) throw new S3Failure(400, 'AuthorizationQueryParametersError', 'A week is the most.')
  const signedAtMs = Date.parse(signedAt.replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'))
  if (!(signedAtMs + 1000 * lifeSeconds >= Date.now())) throw new S3Failure(403, 'AccessDenied', 'Request has expired')
}
