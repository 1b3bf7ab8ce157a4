import type { APIGatewayProxyEvent } from 'aws-lambda'
import { ServiceError } from '../errors.ts'
import { type FilePath, MAX_OBJECT_KEY_BYTES, problemInPath } from '../ids.ts'
import { MOST_FILES, type PromotionOfManyRequest } from '../promotion/promote-container-files.ts'

const MAX_BODY_BYTES = 1_000_000
const MEMBERS = ['prefix', 'paths', 'after']

/**
 * Validates the whole body before anything is looked up.
 * @throws ServiceError invalid_body, its detail naming the problem
 */
export function readFilesToPromote({
  body,
  isBase64Encoded,
}: Pick<APIGatewayProxyEvent, 'body' | 'isBase64Encoded'>): Pick<PromotionOfManyRequest, 'files' | 'after'> {
  const { prefix, paths, after, ...others } = parseObject(Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8'))
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) refuse(`It may have only the members ${MEMBERS.join(', ')}.`)
  if (after !== undefined && typeof after !== 'string') refuse('after must be the next of an answer.')
  if ((prefix === undefined) === (paths === undefined)) refuse('It must have either prefix or paths.')
  return { files: paths === undefined ? { prefix: readPrefix(prefix) } : { paths: readPaths(paths) }, after }
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  if (bytes.length > MAX_BODY_BYTES) refuse(`It must have at most ${MAX_BODY_BYTES} bytes.`)
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    refuse('It must be JSON in UTF-8.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse('It must be an object.')
  // JSON.parse makes a member of its own of __proto__, so that one is unknown like any other.
  return value as Record<string, unknown>
}

function readPrefix(prefix: unknown): string {
  if (typeof prefix !== 'string') refuse('prefix must be a string.')
  // What is before a slash at its end is the path of a folder.
  const problem = prefix === '' ? undefined : problemIn(prefix.replace(/\/$/, ''))
  return problem === undefined ? prefix : refuse(`prefix ${problem}.`)
}

function readPaths(paths: unknown): FilePath[] {
  if (!Array.isArray(paths) || paths.length === 0 || paths.length > MOST_FILES) {
    refuse(`paths must be an array of 1 to ${MOST_FILES} paths.`)
  }
  const seen = new Set<string>()
  paths.forEach((path: unknown, index) => {
    const problem = typeof path === 'string' ? problemIn(path) : 'must be a string'
    if (problem !== undefined) refuse(`paths[${index}] ${problem}.`)
    if (seen.size === seen.add(path as string).size) refuse(`paths[${index}] is there twice.`)
  })
  return paths as FilePath[]
}

/** @returns the end of a sentence about a path or folder that no file id can name */
function problemIn(text: string): string | undefined {
  // JSON can escape halves of characters, which UTF-8 cannot encode.
  if (!text.isWellFormed()) return 'is not valid Unicode'
  return Buffer.byteLength(text) > MAX_OBJECT_KEY_BYTES ? 'is too long' : problemInPath(text)
}

function refuse(problem: string): never {
  throw new ServiceError('invalid_body', { detail: `The body is invalid. ${problem}` })
}
