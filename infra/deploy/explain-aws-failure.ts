import { bucketRegionOf } from '../../lib/aws/calls/failures.ts'
import { ServiceError } from '../../lib/errors.ts'

type NetworkError = { code?: string; hostname?: string; address?: string; port?: number }
type AnyError = Error & NetworkError & { $metadata?: { httpStatusCode?: number } }

/** By reason, what an error's name, code, status (all that HeadBucket answers) or message is like. */
const SIGNS = {
  no_credentials: /^CredentialsProviderError$/,
  expired_credentials: /^(ExpiredToken(Exception)?|RequestExpired|TokenRefreshRequired)$/,
  bad_credentials:
    /^(UnrecognizedClientException|InvalidClientTokenId|InvalidAccessKeyId|SignatureDoesNotMatch|InvalidSignatureException|IncompleteSignature|MissingAuthenticationToken(Exception)?)$/,
  access_denied: /^(AccessDenied(Exception)?|AllAccessDisabled|Forbidden|403)$/,
  not_deployed: /^(ResourceNotFoundException|NoSuchBucket|NotFound)$/,
  wrong_region: /^(PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException|301)$/,
  wrong_clock: /^(RequestTimeTooSkewed|RequestInTheFuture)$/,
  unreachable: /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPIPE|TimeoutError)$/,
  throttled: /^(Request)?Throttl|^(TooManyRequests|SlowDown|ProvisionedThroughputExceeded|RequestLimitExceeded)/,
  no_region: /^Region is missing/,
}
type Reason = keyof typeof SIGNS
const REASONS = Object.keys(SIGNS) as Reason[]

/** What to do. */
const EXPLANATIONS: Readonly<Record<Reason, string>> = {
  no_credentials:
    'There are no usable AWS credentials: set AWS_PROFILE (after "aws sso login") or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
  expired_credentials: 'The AWS credentials have expired: log in again.',
  bad_credentials: 'AWS does not accept the credentials: {message}',
  access_denied: 'AWS refuses this to the credentials in use (docs/administration.md, "Rights"): {message}',
  not_deployed: 'A table or bucket is not there: is the service deployed, in this account and region? {message}',
  wrong_region: 'The bucket is in {region}: use --region or AWS_REGION. {message}',
  wrong_clock: "This machine's clock is wrong: AWS refuses requests that are more than some minutes off. Set it.",
  unreachable: 'No answer from {place}: check the network, the region and AWS_ENDPOINT_URL_….',
  throttled: 'AWS asks to slow down: try again in a while.',
  no_region: 'No AWS region is set: use --region or AWS_REGION.',
}

/** Says what to do about an error of AWS, or of the network; for any other error, its own message. */
export function explainAwsFailure(thrown: unknown): { reason: string; message: string } {
  const error = rootOf(thrown)
  for (const text of [error.name, error.code, error.$metadata?.httpStatusCode, error.message]) {
    const reason = REASONS.find((each) => SIGNS[each].test(`${text}`))
    if (reason === undefined) continue
    const message = EXPLANATIONS[reason]
      .replace('{message}', () => error.message)
      .replace('{place}', () => placeOf(error))
      .replace('{region}', () => bucketRegionOf(error) ?? 'another region')
    return { reason, message }
  }
  return { reason: 'failed', message: error.message || error.name }
}

/** The SDK's error behind ours, and the network's behind several attempts, or behind the "fetch failed" of fetch. */
function rootOf(thrown: unknown): AnyError {
  const isWrapper = thrown instanceof ServiceError || thrown instanceof TypeError
  if (isWrapper && thrown.cause instanceof Error) return rootOf(thrown.cause)
  if (thrown instanceof AggregateError && thrown.errors[0] instanceof Error) return rootOf(thrown.errors[0])
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

function placeOf({ hostname, address, port }: AnyError): string {
  const host = hostname ?? address
  if (host === undefined) return 'AWS'
  return port === undefined ? host : `${host}:${port}`
}
