import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import { type S3Answer, S3Failure, xml } from './s3-answers.ts'
import { describing } from './s3-calls.ts'

type Fields = Record<string, string>
type Condition = [operator: string, name: unknown, wanted: unknown]

const LIMITS = { fieldSize: 20_000, fields: 100 }
const MAX_FILE_BYTES = 5 * 1024 ** 3
const REQUIRED = ['key', 'X-Amz-Algorithm', 'X-Amz-Credential', 'X-Amz-Date', 'X-Amz-Signature']
/** A policy need not name these. */
const UNNAMED = /^(policy|x-amz-signature|x-ignore-.*)$/
const MISSING = /^(success_action_redirect|redirect|tagging)$/
/** Whether the value of a field is the wanted one. */
const OPERATORS: Record<string, (value: string, wanted: unknown) => boolean> = {
  eq: (value, wanted) => value === wanted,
  'starts-with': (value, wanted) => value.startsWith(String(wanted)),
  // The bytes are counted as they arrive.
  'content-length-range': () => true,
}

/**
 * What the form of a presigned POST wants to put, and the bytes of its file as they arrive: a size that the policy does
 * not allow breaks them off, and fields after them do not count. Whether the policy is signed correctly is not checked.
 * @throws S3Failure as S3 refuses it
 */
export async function readPost(incoming: IncomingMessage, bucket: string) {
  const isPartAFile = (name = '') => name.toLowerCase() === 'file'
  const form = new Busboy({ headers: incoming.headers as BusboyHeaders, isPartAFile, limits: LIMITS })
  const fields: Fields = Object.create(null)
  form.on('field', (name, value) => {
    fields[name.toLowerCase()] = value
  })
  form.once('file', (_, file) => {
    form.removeAllListeners('field')
    // Of a form that ends too early, busboy reports an error, but does not end its file.
    file.on('error', (error) => file.destroy(error))
  })
  incoming.once('error', (error) => form.destroy(error))
  const begun = once(form, 'file') as Promise<[name: string, file: Readable, filename?: string]>
  const read = finished(incoming.pipe(form))
  const [, file, filename = ''] = await Promise.race([begun, read.then(() => refuse('InvalidArgument', NO_FILE))])
  read.catch((error) => file.destroy(error))
  const key = (fields.key ?? '').replace(/\$\{filename\}/g, () => filename)
  const range = requirePolicy({ ...fields, key }, bucket)
  const path = `/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`
  return {
    put: { method: 'PUT', path, headers: describing(fields) },
    file: within(range, file),
    /** @param put what was answered to the same as a PUT */
    answerTo(put: S3Answer): S3Answer {
      if (put.status !== 200) return put
      const status = { '200': 200, '201': 201 }[fields.success_action_status ?? ''] ?? 204
      const Location = `http://${incoming.headers.host}${path}`
      const made = xml({ PostResponse: { Location, Bucket: bucket, Key: key, ETag: put.headers.etag } }, status)
      const headers = { ...put.headers, location: Location }
      return status === 201 ? { ...made, headers: { ...made.headers, ...headers } } : { status, headers, body: '' }
    },
  }
}

/** @returns the least and the most bytes that the file may have */
function requirePolicy(fields: Fields, bucket: string): [number, number] {
  if (fields.policy === undefined) throw new S3Failure(403, 'AccessDenied')
  const absent = REQUIRED.find((name) => !fields[name.toLowerCase()])
  if (absent !== undefined) refuse('InvalidArgument', `Bucket POST must contain a field named '${absent}'.`)
  const missing = Object.keys(fields).find((name) => MISSING.test(name))
  if (missing !== undefined) throw new S3Failure(501, 'NotImplemented', `There is no ${missing} here.`)
  const { expiration, conditions } = parsePolicy(fields.policy)
  if (!(Date.parse(expiration) > Date.now())) deny('Policy expired.')
  const given: Fields = { ...fields, bucket }
  const named = conditions.map(([, name]) => String(name).replace(/^\$/, '').toLowerCase())
  const failed = conditions.find(([is, , wanted], at) => !OPERATORS[is]?.(given[named[at] ?? ''] ?? '', wanted))
  if (failed) deny(`Policy Condition failed: [${failed.map((each) => JSON.stringify(each)).join(', ')}]`)
  const extra = Object.keys(given).filter((name) => !named.includes(name) && !UNNAMED.test(name))
  if (extra.length > 0) deny(`Extra input fields: ${extra.join(', ')}`)
  const ranges = conditions.filter(([operator]) => operator === 'content-length-range')
  return [
    Math.max(0, ...ranges.map(([, least]) => Number(least))),
    Math.min(MAX_FILE_BYTES, ...ranges.map(([, , most]) => Number(most))),
  ]
}

function parsePolicy(policy: string): { expiration: string; conditions: Condition[] } {
  try {
    const { expiration, conditions } = JSON.parse(Buffer.from(policy, 'base64').toString())
    const listed = conditions.flatMap((each: object) =>
      Array.isArray(each) ? [each] : Object.entries(each).map(([name, value]) => ['eq', `$${name}`, value]),
    )
    return { expiration, conditions: listed }
  } catch {
    return refuse('InvalidPolicyDocument', 'Invalid Policy: Invalid JSON.')
  }
}

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
