import type { APIGatewayProxyResult } from 'aws-lambda'
import type { Download } from '../files/download.ts'
import { headerValue } from './request-headers.ts'
import type { ApiEvent } from './request-state.ts'

const ANY_TYPE = 'application/octet-stream'

/** Whether the client accepts no other type: `@openrouter/sdk` does not. */
export function acceptsOnlyAnyType(event: ApiEvent): boolean {
  return headerValue(event, 'accept')?.trim().toLowerCase() === ANY_TYPE
}

/** The body repeats the address for clients that do not follow redirects. */
export function redirectTo({ url, expiresAt }: Download): APIGatewayProxyResult {
  return {
    statusCode: 302,
    headers: { location: url, vary: 'Accept' },
    body: JSON.stringify({ url, expires_at: expiresAt.toISOString() }),
  }
}
