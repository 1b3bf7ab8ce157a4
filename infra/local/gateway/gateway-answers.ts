import { randomUUID } from 'node:crypto'
import type { APIGatewayProxyResult } from 'aws-lambda'
import {
  GATEWAY_RESPONSES,
  type GatewayAnswer,
  OWN_ANSWER_HEADERS,
  preflightHeaders,
  wrongMethod,
} from '../../deploy/gateway-responses.ts'
import { REFUSAL } from '../loopback.ts'

/** The gateway's own answers, as those of the template. */
export function createGatewayAnswers(corsAllowedOrigins: readonly string[]) {
  const isForPages = corsAllowedOrigins.length > 0

  function answer({ status, headers, body }: GatewayAnswer): APIGatewayProxyResult {
    const requestId = randomUUID()
    return {
      statusCode: status,
      headers: {
        ...{ 'content-type': 'application/json', 'x-request-id': requestId, 'request-id': requestId },
        ...headers,
        ...(isForPages && OWN_ANSWER_HEADERS),
      },
      body: body.replaceAll('$context.extendedRequestId', requestId),
    }
  }

  return {
    /** @param type neither of the two defaults, whose status API Gateway itself decides */
    ofType(type: string): APIGatewayProxyResult {
      const response = GATEWAY_RESPONSES[type]
      if (response === undefined) throw new Error(`there is no gateway response ${type}`)
      return answer(response)
    },

    /** @returns undefined when no page of another origin may use the API: then OPTIONS is a method like any other */
    preflight(methods: readonly string[], origin: string | undefined): APIGatewayProxyResult | undefined {
      if (!isForPages) return undefined
      const isAllowed = origin !== undefined && corsAllowedOrigins.includes(origin)
      const headers = preflightHeaders(methods)
      return {
        statusCode: 204,
        headers: { ...headers, ...(isAllowed && { 'access-control-allow-origin': origin }) },
        body: '',
      }
    },

    /** The refusal of a web ACL, in other words. */
    foreign(): APIGatewayProxyResult {
      const blocked = this.ofType('WAF_FILTERED')
      return { ...blocked, body: blocked.body.replace(/"detail":"[^"]*"/, `"detail":"${REFUSAL}"`) }
    },

    wrongMethod: (path: string, methods: readonly string[]) =>
      answer(wrongMethod(path, isForPages ? [...methods, 'OPTIONS'] : methods)),
  }
}
