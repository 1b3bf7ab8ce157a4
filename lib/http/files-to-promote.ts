import type { APIGatewayProxyEvent } from 'aws-lambda'
import { ServiceError } from '../errors.ts'
import { type FilePath, MAX_OBJECT_KEY_BYTES, problemInPath } from '../ids.ts'
import { LEAST_EXPIRY_SECONDS, MOST_EXPIRY_SECONDS } from '../ledger/expiry.ts'
import { MOST_FILES, type PromotionOfManyRequest } from '../promotion/promote-container-files.ts'
import { isExpiry } from './expires-in.ts'

const MAX_BODY_BYTES = 1_000_000

/**
 * Validates the whole body before anything is looked up.
 * @throws ServiceError invalid_body, its detail naming the problem
 */
export function readFilesToPromote(
  event: APIGatewayProxyEvent,
): Pick<PromotionOfManyRequest, 'files' | 'after' | 'expiresInSeconds'> {
  const { prefix, paths, after, expires_in_seconds: expiresInSeconds, ...others } = parseObject(event)
  // JSON.parse makes a member of __proto__, so that one is unknown like any other.
  if (Object.keys(others).length > 0)
    refuse('It may have only the members prefix, paths, after and expires_in_seconds.')
  if (after !== undefined && typeof after !== 'string') refuse('after must be the next of an answer.')
  if (expiresInSeconds !== undefined && !isExpiry(expiresInSeconds)) {
    refuse(`expires_in_seconds must be a whole number from ${LEAST_EXPIRY_SECONDS} to ${MOST_EXPIRY_SECONDS}.`)
  }
  if ((prefix === undefined) === (paths === undefined)) refuse('It must have either prefix or paths.')
  if (paths !== undefined) return { files: { paths: readPaths(paths) }, after, expiresInSeconds }
  // What is before a slash at its end is the path of a folder.
  const problem = prefix === '' ? undefined : problemIn(typeof prefix === 'string' ? prefix.replace(/\/$/, '') : prefix)
  if (problem === undefined) return { files: { prefix: prefix as string }, after, expiresInSeconds }
  return refuse(`prefix ${problem}.`)
}

function parseObject({ body, isBase64Encoded }: APIGatewayProxyEvent): Record<string, unknown> {
  const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.length > MAX_BODY_BYTES) refuse(`It must have at most ${MAX_BODY_BYTES} bytes.`)
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Refused like any other text that is no object.
  }
  return refuse('It must be a JSON object in UTF-8.')
}

function readPaths(paths: unknown): FilePath[] {
  if (!Array.isArray(paths) || paths.length === 0 || paths.length > MOST_FILES) {
    refuse(`paths must be an array of 1 to ${MOST_FILES} paths.`)
  }
  for (const [index, path] of paths.entries()) {
    const problem = problemIn(path) ?? (paths.indexOf(path) < index ? 'is there twice' : undefined)
    if (problem !== undefined) refuse(`paths[${index}] ${problem}.`)
  }
  return paths as FilePath[]
}

/** @returns the end of a sentence about a path or folder that no file id can name */
function problemIn(text: unknown): string | undefined {
  // JSON can escape halves of characters, which UTF-8 cannot encode.
  if (typeof text !== 'string' || !text.isWellFormed()) return 'must be a string of Unicode characters'
  return Buffer.byteLength(text) > MAX_OBJECT_KEY_BYTES ? 'is too long' : problemInPath(text)
}

function refuse(problem: string): never {
  throw new ServiceError('invalid_body', { detail: `The body is invalid. ${problem}` })
}
