import { EXPOSED_HEADERS } from '../../lib/http/cors.ts'
import { HEADERS_OF_PROMOTION } from '../../lib/http/operations.ts'

// What the gateway says by itself, in the template that is deployed and in the local gateway alike.

/** Headers that callers send; the vendors' libraries identify themselves in x-stainless-…. */
const REQUEST_HEADERS = [
  'Authorization, Content-Type, File-Shape, Anthropic-Version, Anthropic-Beta, Anthropic-Workspace-Id',
  ...HEADERS_OF_PROMOTION,
  'Anthropic-Dangerous-Direct-Browser-Access, OpenAI-Organization, OpenAI-Project, OpenAI-Beta',
  'X-Stainless-Arch, X-Stainless-Lang, X-Stainless-OS, X-Stainless-Package-Version, X-Stainless-Retry-Count',
  'X-Stainless-Runtime, X-Stainless-Runtime-Version, X-Stainless-Timeout, X-Stainless-Helper-Method',
].join(', ')
/** The maximum that browsers accept. */
const MAX_AGE_SECONDS = '7200'

/** Headers of the answer to a preflight, except the origin. @param methods of the path */
export function preflightHeaders(methods: readonly string[]): Record<string, string> {
  return {
    'access-control-allow-headers': REQUEST_HEADERS,
    'access-control-allow-methods': methods.join(', '),
    'access-control-max-age': MAX_AGE_SECONDS,
    'cache-control': 'no-store',
    vary: 'Origin',
  }
}

/** Headers of the gateway's own answers, which are the same for everybody: any page may read them. */
export const OWN_ANSWER_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS,
}
