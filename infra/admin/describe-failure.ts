import { CommanderError } from 'commander'
import { ServiceError } from '../../lib/errors.ts'
import { CommandError } from './command-error.ts'

export interface Failure {
  /** For programs. */
  reason: string
  /** One line for people: what happened and what to do. */
  message: string
  exitCode: 1 | 2
}

interface AnyError extends Error {
  code?: string
  hostname?: string
  address?: string
  port?: number
  $metadata?: { httpStatusCode?: number }
}

interface Explanation {
  reason: string
  /** Names, codes or messages of the errors it explains. */
  pattern: RegExp
  explain(error: AnyError): string
}

/** By the error's name or code, the first that matches. Names are those of the services' API references. */
const EXPLANATIONS: Explanation[] = [
  {
    reason: 'no_credentials',
    pattern: /^CredentialsProviderError$/,
    explain: () =>
      'There are no usable AWS credentials: set AWS_PROFILE (after "aws sso login") or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use --local.',
  },
  {
    reason: 'expired_credentials',
    pattern: /^(ExpiredToken(Exception)?|RequestExpired|TokenRefreshRequired)$/,
    explain: () => 'The AWS credentials have expired: log in again.',
  },
  {
    reason: 'bad_credentials',
    pattern:
      /^(UnrecognizedClientException|InvalidClientTokenId|InvalidAccessKeyId|SignatureDoesNotMatch|InvalidSignatureException|IncompleteSignature|MissingAuthenticationToken(Exception)?)$/,
    explain: ({ message }) => `AWS does not accept the credentials: ${message}`,
  },
  {
    reason: 'access_denied',
    pattern: /^(AccessDenied(Exception)?|AllAccessDisabled|Forbidden)$/,
    explain: ({ message }) =>
      `AWS refuses this to the credentials in use (npm run admin -- doctor lists what is lacking): ${message}`,
  },
  {
    reason: 'not_deployed',
    pattern: /^(ResourceNotFoundException|NoSuchBucket)$/,
    explain: ({ message }) =>
      `A table or bucket is not there: is the service deployed, in this account and region? ${message}`,
  },
  {
    reason: 'wrong_region',
    pattern: /^(PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/,
    explain: ({ message }) => `The bucket is in another region: use --region or AWS_REGION. ${message}`,
  },
  {
    reason: 'wrong_clock',
    pattern: /^(RequestTimeTooSkewed|RequestInTheFuture)$/,
    explain: () => "This machine's clock is wrong: AWS refuses requests that are more than some minutes off. Set it.",
  },
  {
    reason: 'unreachable',
    pattern: /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPIPE|TimeoutError)$/,
    explain: (error) => `No answer from ${placeOf(error)}: check the network, the region and AWS_ENDPOINT_URL_….`,
  },
  {
    reason: 'throttled',
    pattern: /Throttl|TooManyRequests|SlowDown|ProvisionedThroughputExceeded|RequestLimitExceeded/,
    explain: () => 'AWS asks to slow down: try again in a while.',
  },
]

/** Any thrown value as one line and an exit code. */
export function describeFailure(thrown: unknown): Failure {
  if (thrown instanceof CommandError)
    return { reason: thrown.reason, message: oneLine(thrown.message), exitCode: thrown.exitCode }
  if (thrown instanceof CommanderError) {
    return {
      reason: 'wrong_usage',
      message: `${thrown.message.replace(/^error: /, '')} (--help tells how)`,
      exitCode: 2,
    }
  }
  const error = rootOf(thrown)
  for (const { reason, pattern, explain } of EXPLANATIONS) {
    if (pattern.test(error.name) || (error.code !== undefined && pattern.test(error.code))) {
      return { reason, message: oneLine(explain(error)), exitCode: 2 }
    }
  }
  if (error.message.startsWith('Region is missing')) {
    return { reason: 'no_region', message: 'No AWS region is set: use --region or AWS_REGION.', exitCode: 2 }
  }
  // HeadBucket and HeadObject are answered without a body: their errors have no name.
  const status = error.$metadata?.httpStatusCode
  if (status === 403)
    return { reason: 'access_denied', message: 'AWS refuses this to the credentials in use.', exitCode: 2 }
  return { reason: 'failed', message: oneLine(error.message) || error.name, exitCode: 2 }
}

/** The SDK's error behind ours, and the network's behind several attempts. */
function rootOf(thrown: unknown): AnyError {
  if (thrown instanceof ServiceError && thrown.cause instanceof Error) return rootOf(thrown.cause)
  if (thrown instanceof AggregateError && thrown.errors[0] instanceof Error) return rootOf(thrown.errors[0])
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

function placeOf({ hostname, address, port }: AnyError): string {
  const host = hostname ?? address
  if (host === undefined) return 'AWS'
  return port === undefined ? host : `${host}:${port}`
}

/** Configuration problems come as a list; and no answer of a server may break an error into two lines. */
function oneLine(text: string): string {
  return text
    .trim()
    .replace(/:\n- /g, ': ')
    .replace(/\s*\n(- )?\s*/g, '; ')
}
