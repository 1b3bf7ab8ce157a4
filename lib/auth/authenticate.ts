import { type Reason, ServiceError } from '../errors.ts'
import { hashToken, isWellFormedToken, keyIdIn, TOKEN_PREFIX } from './api-token.ts'
import type { AnyCaller, ApiKeyStore } from './caller.ts'

interface Credentials {
  /** Values of all Authorization headers. */
  authorization: readonly string[]
  /** Whether there is a header in which other services expect keys. */
  hasOtherKeyHeader: boolean
}

/** The scheme in any case, one token without spaces (RFC 6750 §2.1, RFC 9110 §11.1). */
const BEARER = /^bearer +([^\s]+)$/i
/** The schemes that the answer, and so the log, may name: any other word before a space might be part of a secret. */
const SCHEMES = /^(basic|digest|token|apikey|api-key|key|negotiate|oauth|aws4-hmac-sha256)(?=\s)/i
const SEND_IT = 'Send it in the Authorization header, as: Bearer <API_KEY>.'
const QUOTES = /^["'`<].*["'`>]$/
const PLACEHOLDER = /^[<${[]|^(undefined|null|None|YOUR_.*|API_KEY)$/

/**
 * Well-formed keys that are wrong all get the same error, so that the answer does not reveal which keys exist.
 * @throws ServiceError missing_authorization, malformed_authorization, invalid_api_key, service_unavailable
 */
export async function authenticate(
  credentials: Credentials,
  deps: { apiKeys: ApiKeyStore; now(): number },
  signal: AbortSignal,
): Promise<AnyCaller> {
  const token = readBearerToken(credentials)
  const key = await deps.apiKeys.find(keyIdIn(token), hashToken(token), signal)
  if (key === undefined || !key.isEnabled || (key.expiresAtMs !== undefined && key.expiresAtMs <= deps.now())) {
    throw new ServiceError('invalid_api_key')
  }
  const { isEnabled: _, ...caller } = key
  return caller
}

/** Errors say in full what is wrong: nothing is looked up, so they do not reveal which keys exist. */
function readBearerToken({ authorization, hasOtherKeyHeader }: Credentials): string {
  if (authorization.every((value) => value.trim() === '')) {
    if (hasOtherKeyHeader) refuse('missing_authorization', `The API key came in the wrong header. ${SEND_IT}`)
    throw new ServiceError('missing_authorization')
  }
  const [value = '', ...others] = authorization
  if (others.length > 0) refuse('malformed_authorization', 'There is more than one Authorization header: send one.')
  const token = BEARER.exec(value)?.[1]
  if (token === undefined) refuse('malformed_authorization', problemIn(value.trim()))
  if (QUOTES.test(token)) refuse('invalid_api_key', 'The API key is in quotes or brackets: send it without.')
  if (PLACEHOLDER.test(token)) {
    refuse('invalid_api_key', 'There is a placeholder where the API key should be: was a variable left empty?')
  }
  if (!token.startsWith(TOKEN_PREFIX)) {
    refuse('invalid_api_key', `This is not an API key of this service: those start with "${TOKEN_PREFIX}".`)
  }
  if (!isWellFormedToken(token)) {
    refuse('invalid_api_key', 'The API key is incomplete or mistyped: its checksum does not match. Copy it again.')
  }
  return token
}

function problemIn(value: string): string {
  if (/^bearer$/i.test(value)) return `There is no API key after the word Bearer. ${SEND_IT}`
  if (/^bearer\s/i.test(value)) return `There is more than the API key after the word Bearer. ${SEND_IT}`
  // A key of ours without the scheme, or any other single word.
  if (value.replace(/^["']/, '').startsWith(TOKEN_PREFIX) || !/\s/.test(value)) {
    return `The word Bearer is missing before the API key. ${SEND_IT}`
  }
  const scheme = SCHEMES.exec(value)?.[0]
  return `The scheme ${scheme === undefined ? 'of the Authorization header' : scheme} is not supported. ${SEND_IT}`
}

function refuse(reason: Reason, detail: string): never {
  throw new ServiceError(reason, { detail })
}
