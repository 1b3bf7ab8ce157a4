import type { APIGatewayProxyEvent } from 'aws-lambda'

export type RequestHeaders = Pick<APIGatewayProxyEvent, 'headers' | 'multiValueHeaders'>

const PROTECTING = new Set(['idempotency-key', 'if-match', 'file-bytes', 'file-sha256', 'file-expires-in'])

/** Matches the name in any case: the gateway passes names on as the client wrote them. Empty ones count as not sent. */
export function headerValues(event: RequestHeaders, name: string): string[] {
  const byName = (headers: object | null | undefined) =>
    Object.entries(headers ?? {}).filter(([key]) => key.toLowerCase() === name)
  const multiple = byName(event.multiValueHeaders).flatMap(([, values]) => (values as string[] | undefined) ?? [])
  const single = byName(event.headers).flatMap(([, value]) => (value as string | undefined) ?? [])
  const sent = multiple.length > 0 ? multiple : single
  // An empty one counts here: a variable left empty must not silently turn the protection off.
  return PROTECTING.has(name) ? sent : sent.filter((value) => value.trim() !== '')
}

/** Several values are joined as in HTTP (RFC 9110 §5.3). @returns undefined when it was not sent */
export function headerValue(event: RequestHeaders, name: string): string | undefined {
  const values = headerValues(event, name)
  return values.length === 0 ? undefined : values.join(', ')
}
