import type { APIGatewayProxyEvent } from 'aws-lambda'
import { MOST_REQUESTS_PER_MINUTE } from '../config.ts'
import { ServiceError } from '../errors.ts'
import { type FilePath, MAX_OBJECT_KEY_BYTES, problemInPath } from '../ids.ts'

/** The members of a body. Those that are null count as not sent, except by platforms. */
export type Body = Readonly<Record<string, unknown>>

const MAX_BODY_BYTES = 1_000_000

/** @param members that it may have. @throws ServiceError invalid_body */
export function readBody({ body, isBase64Encoded }: APIGatewayProxyEvent, members: readonly string[]): Body {
  const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.length > MAX_BODY_BYTES) refuseBody(`It must have at most ${MAX_BODY_BYTES} bytes.`)
  let value: unknown
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    // Many clients send an empty body, or null, where there is nothing to say.
    value = text.trim() === '' ? {} : (JSON.parse(text) ?? {})
  } catch {
    // Refused like any other text that is no object.
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Body
  // What every form with a file in it begins with.
  const isForm = bytes.subarray(0, 2).toString() === '--'
  const butNoForm = isForm ? `, with ${members.join(', ')}, and no form with a file` : ''
  return refuseBody(`It must be a JSON object in UTF-8${butNoForm}.`)
}

/** @throws ServiceError invalid_body */
export function refuseBody(problem: string): never {
  throw new ServiceError('invalid_body', { detail: `The body is invalid. ${problem}` })
}

/** @throws ServiceError invalid_body, whose detail names the member. @returns undefined: it was not sent */
export function readNumber(body: Body, name: string, min: number, max: number): number | undefined {
  const value = body[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  return refuseBody(`${name} must be a whole number from ${min} to ${max}.`)
}

/** @returns the first of the choices if none was sent. @throws ServiceError invalid_body */
export function readChoice<Choice extends string>(body: Body, name: string, choices: readonly Choice[]): Choice {
  const { [name]: value = choices[0] } = body
  return choices.find((each) => each === value) ?? refuseBody(`${name} must be ${choices.join(' or ')}.`)
}

/** @returns the end of a sentence about a path or folder that no file id can name */
export function problemInText(text: unknown): string | undefined {
  // JSON can escape halves of characters, which UTF-8 cannot encode.
  if (typeof text !== 'string' || !text.isWellFormed()) return 'must be a string of Unicode characters'
  return Buffer.byteLength(text) > MAX_OBJECT_KEY_BYTES ? 'is too long' : problemInPath(text)
}

/** @throws ServiceError invalid_body */
export function readPath(text: unknown, name: string): FilePath {
  const problem = problemInText(text)
  return problem === undefined ? (text as FilePath) : refuseBody(`${name} ${problem}.`)
}

export function readRequestsPerMinute(body: Body): number | undefined {
  return readNumber(body, 'requests_per_minute', 1, MOST_REQUESTS_PER_MINUTE)
}
