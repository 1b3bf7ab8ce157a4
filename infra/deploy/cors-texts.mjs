// CORS headers of the gateway, for the deployed template and the local gateway.

/** As lib/http/cors.ts has them; a test keeps the two together. */
const EXPOSED_HEADERS =
  'Idempotency-Replayed, RateLimit, RateLimit-Policy, Retry-After, Storage-Quota-Bytes, Storage-Used-Bytes, WWW-Authenticate, X-Amzn-Remapped-WWW-Authenticate, X-Request-Id'
/** Headers that callers send; the vendors' libraries identify themselves in x-stainless-…. */
const REQUEST_HEADERS = [
  ...[
    'Authorization',
    'Content-Type',
    'File-Shape',
    'Idempotency-Key',
    'Anthropic-Version',
    'Anthropic-Beta',
    'Anthropic-Workspace-Id',
  ],
  ...['OpenAI-Organization', 'OpenAI-Project', 'OpenAI-Beta', 'Anthropic-Dangerous-Direct-Browser-Access'],
  ...[
    'Arch',
    'Lang',
    'OS',
    'Package-Version',
    'Retry-Count',
    'Runtime',
    'Runtime-Version',
    'Timeout',
    'Helper-Method',
  ].map((name) => `X-Stainless-${name}`),
].join(', ')
/** The maximum that browsers accept. */
const MAX_AGE_SECONDS = '7200'

/**
 * Headers of the answer to a preflight, but for the origin.
 * @param {readonly string[]} methods of the path
 */
export function preflightHeaders(methods) {
  return {
    'access-control-allow-headers': REQUEST_HEADERS,
    'access-control-allow-methods': methods.join(', '),
    'access-control-max-age': MAX_AGE_SECONDS,
    'cache-control': 'no-store',
    vary: 'Origin',
  }
}

/**
 * Headers of the gateway's own answers. They are the same for everybody and contain nobody's data, so any page may read
 * them.
 */
export const OWN_ANSWER_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS,
}

/**
 * @param {string} text with commas between the origins
 * @returns {string[]}
 */
export function readOrigins(text) {
  return text
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '')
}
