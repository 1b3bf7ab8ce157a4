import { type S3Answer, S3Failure, xml } from './s3-answers.ts'
import { readInPieces } from './s3-bodies.ts'

export interface Post {
  key: string
  /** Names in lower case. */
  fields: Record<string, string>
  /** Its bytes as they arrive; a size that the policy does not allow breaks them off. */
  file: AsyncIterable<Buffer>
}

/** Of all fields before the file (S3 API, "POST Object"). */
const MAX_FIELDS_BYTES = 20_000
const MAX_FILE_BYTES = 5 * 1024 ** 3
const REQUIRED = ['key', 'X-Amz-Algorithm', 'X-Amz-Credential', 'X-Amz-Date', 'X-Amz-Signature']
/** A policy need not name these. */
const UNNAMED = /^(policy|x-amz-signature|x-ignore-.*)$/
const MISSING = ['success_action_redirect', 'redirect', 'tagging']

/**
 * The form of a presigned POST, up to the bytes of its file, which comes last. Whether its policy is signed correctly is
 * not checked.
 * @throws S3Failure as S3 refuses it
 */
export async function readPost(body: AsyncIterable<Buffer>, contentType: string, bucket: string): Promise<Post> {
  const boundary = /\bboundary="?([^";]+)/.exec(contentType)?.[1] ?? ''
  const sent = readInPieces(body)
  const fields: Record<string, string> = Object.create(null)
  await sent.text(`--${boundary}`, MAX_FIELDS_BYTES)
  for (let left = MAX_FIELDS_BYTES; ; ) {
    if ((await sent.text('\r\n', 100)) === '--') {
      throw new S3Failure(400, 'InvalidArgument', 'POST requires exactly one file upload per request.')
    }
    const head = await sent.text('\r\n\r\n', left)
    const name = /\bname="?([^";\r\n]*)/i.exec(head)?.[1]?.toLowerCase() ?? ''
    if (name === 'file') {
      const filename = /\bfilename="([^"]*)"/i.exec(head)?.[1]?.split(/[/\\]/).at(-1) ?? ''
      if (fields.key !== undefined) fields.key = fields.key.replace(/\$\{filename\}/g, () => filename)
      const range = requirePolicy(fields, bucket)
      return { key: fields.key ?? '', fields, file: within(range, sent.until(`\r\n--${boundary}`)) }
    }
    fields[name] = await sent.text(`\r\n--${boundary}`, left)
    left -= head.length + fields[name].length
  }
}

/** @returns the least and the most bytes that the file may have */
function requirePolicy(fields: Post['fields'], bucket: string): [number, number] {
  if (fields.policy === undefined) throw new S3Failure(403, 'AccessDenied')
  const missing = REQUIRED.find((name) => !fields[name.toLowerCase()])
  if (missing !== undefined) {
    const text = `Bucket POST must contain a field named '${missing}'. If it is specified, please check the order of the fields.`
    throw new S3Failure(400, 'InvalidArgument', text)
  }
  const unknown = MISSING.find((name) => name in fields)
  if (unknown !== undefined) throw new S3Failure(501, 'NotImplemented', `There is no ${unknown} here.`)
  const { expiration, conditions } = parsePolicy(fields.policy)
  if (!(Date.parse(expiration) > Date.now())) refuse('Policy expired.')
  const values: Post['fields'] = { ...fields, bucket }
  const named = new Set<string>()
  const range: [number, number] = [0, MAX_FILE_BYTES]
  for (const [operator, of, wanted] of conditions) {
    if (operator === 'content-length-range') {
      range[0] = Math.max(range[0], Number(of))
      range[1] = Math.min(range[1], Number(wanted))
      continue
    }
    const name = String(of).replace(/^\$/, '').toLowerCase()
    const value = values[name] ?? ''
    named.add(name)
    const isMet = operator === 'starts-with' ? value.startsWith(String(wanted)) : operator === 'eq' && value === wanted
    if (!isMet) {
      refuse(`Policy Condition failed: [${[operator, of, wanted].map((each) => JSON.stringify(each)).join(', ')}]`)
    }
  }
  const extra = Object.keys(values).filter((name) => !named.has(name) && !UNNAMED.test(name))
  if (extra.length > 0) refuse(`Extra input fields: ${extra.join(', ')}`)
  return range
}

/** Every condition as a list of operator, name and value. */
function parsePolicy(policy: string): { expiration: string; conditions: unknown[][] } {
  try {
    const { expiration, conditions } = JSON.parse(Buffer.from(policy, 'base64').toString())
    const listed = conditions.flatMap((each: object) =>
      Array.isArray(each) ? [each] : Object.entries(each).map(([name, value]) => ['eq', `$${name}`, value]),
    )
    return { expiration, conditions: listed }
  } catch {
    throw new S3Failure(400, 'InvalidPolicyDocument', 'Invalid Policy: Invalid JSON.')
  }
}

function refuse(why: string): never {
  throw new S3Failure(403, 'AccessDenied', `Invalid according to Policy: ${why}`)
}

async function* within([least, most]: [number, number], file: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let sizeBytes = 0
  for await (const piece of file) {
    sizeBytes += piece.length
    if (sizeBytes > most) {
      throw new S3Failure(400, 'EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size')
    }
    yield piece
  }
  if (sizeBytes < least) {
    throw new S3Failure(400, 'EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed size')
  }
}

/** @param host as the request named it @param put what was answered to the same as a PUT */
export function postAnswer({ key, fields }: Post, { bucket, host }: { bucket: string; host: string }, put: S3Answer) {
  if (put.status !== 200) return put
  const { etag = '' } = put.headers
  const location = `http://${host}/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`
  const status = { '200': 200, '201': 201 }[fields.success_action_status ?? ''] ?? 204
  const described = { etag, location }
  if (status !== 201) return { status, headers: described, body: '' }
  const made = xml({ PostResponse: { Location: location, Bucket: bucket, Key: key, ETag: etag } }, status)
  return { ...made, headers: { ...made.headers, ...described } }
}
