import type { APIGatewayProxyResult } from 'aws-lambda'
import type { Download } from '../files/download.ts'
import { UNKNOWN_TYPE } from '../files/media-type.ts'
import { headerValue } from './request-headers.ts'
import type { ApiEvent } from './request-state.ts'

/** Whether the client accepts no other type: `@openrouter/sdk` does not. */
export function acceptsOnlyOctetStream(event: ApiEvent): boolean {
  return headerValue(event, 'accept')?.trim().toLowerCase() === UNKNOWN_TYPE
}

/** The body repeats the address for clients that do not follow redirects. */
export function redirectTo({ url, expiresAt }: Download, headers: Record<string, string> = {}): APIGatewayProxyResult {
  return {
    statusCode: 302,
    headers: { ...headers, location: url, vary: 'Accept' },
    body: JSON.stringify({ url, expires_at: expiresAt.toISOString() }),
  }
}
