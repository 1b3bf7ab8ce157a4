import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import type { AwsCredentialIdentity } from '@smithy/types'
import { describing, S3Failure } from './s3-answers.ts'
import { requireSigned } from './s3-signatures.ts'

type Fields = Record<string, string>
type Condition = [operator: string, name: unknown, wanted: unknown]

const LIMITS = { fieldSize: 20_000, fields: 100 }
const MAX_FILE_BYTES = 5 * 1024 ** 3
/** A policy need not name these. */
const UNNAMED = ['policy', 'x-amz-signature']

/**
 * Reads what the form of a presigned POST wants to put, and the bytes of its file as they arrive: a size that the policy does
 * not allow breaks them off, and fields after them do not count. Policies are of exact values and a range of sizes, as
 * the product makes them.
 * @throws S3Failure as S3 refuses it
 */
export async function readPost(incoming: IncomingMessage, bucket: string, credentials: AwsCredentialIdentity) {
  const isPartAFile = (name = '') => name.toLowerCase() === 'file'
  const form = new Busboy({ headers: incoming.headers as BusboyHeaders, isPartAFile, limits: LIMITS })
  const fields: Fields = Object.create(null)
  form.on('field', (name, value) => {
    fields[name.toLowerCase()] = value
  })
  form.once('file', (_, file) => {
    form.removeAllListeners('field')
    // When a form ends too early, busboy reports an error, but does not end its file.
    file.on('error', (error) => file.destroy(error))
  })
  incoming.once('error', (error) => form.destroy(error))
  const begun = once(form, 'file') as Promise<[name: string, file: Readable]>
  const read = finished(incoming.pipe(form))
  const [, file] = await Promise.race([begun, read.then(() => refuse('InvalidArgument', NO_FILE))])
  read.catch((error) => file.destroy(error))
  const range = requirePolicy(fields, bucket, credentials)
  const path = `/${bucket}/${(fields.key ?? '').split('/').map(encodeURIComponent).join('/')}`
  return { put: { method: 'PUT', path, headers: describing(fields) }, file: within(range, file) }
}

/** @returns the least and the most bytes that the file may have */
function requirePolicy(fields: Fields, bucket: string, credentials: AwsCredentialIdentity): [number, number] {
  const { policy, 'x-amz-signature': signature, 'x-amz-credential': credential = '' } = fields
  if (!policy || !signature) throw new S3Failure(403, 'AccessDenied')
  requireSigned([policy], { credential, signature }, credentials)
  const { expiration, conditions } = JSON.parse(Buffer.from(policy, 'base64').toString())
  if (!(Date.parse(expiration) > Date.now())) deny('Policy expired.')
  const all: Condition[] = conditions.flatMap((each: object) =>
    Array.isArray(each) ? [each] : Object.entries(each).map(([name, value]) => ['eq', `$${name}`, value]),
  )
  const ranges = all.filter(isRange)
  const exact = all.filter((each) => !isRange(each))
  const given: Fields = { ...fields, bucket }
  const named = exact.map(([, name]) => String(name).replace(/^\$/, '').toLowerCase())
  const failed = exact.find(([operator, , wanted], at) => operator !== 'eq' || given[named[at] ?? ''] !== wanted)
  if (failed) deny(`Policy Condition failed: [${failed.map((each) => JSON.stringify(each)).join(', ')}]`)
  const extra = Object.keys(given).filter((name) => !named.includes(name) && !UNNAMED.includes(name))
  if (extra.length > 0) deny(`Extra input fields: ${extra.join(', ')}`)
  return [
    Math.max(0, ...ranges.map(([, least]) => Number(least))),
    Math.min(MAX_FILE_BYTES, ...ranges.map(([, , most]) => Number(most))),
  ]
}

const isRange = ([operator]: Condition) => operator === 'content-length-range'
const NO_FILE = 'POST requires exactly one file upload per request.'

function refuse(code: string, why: string): never {
  throw new S3Failure(400, code, why)
}

function deny(why: string): never {
  throw new S3Failure(403, 'AccessDenied', `Invalid according to Policy: ${why}`)
}

async function* within([least, most]: [number, number], file: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let sizeBytes = 0
  for await (const piece of file) {
    sizeBytes += piece.length
    if (sizeBytes > most) refuse('EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size')
    yield piece
  }
  if (sizeBytes < least) refuse('EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed size')
}
