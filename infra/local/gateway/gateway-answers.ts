import { randomUUID } from 'node:crypto'
import { GATEWAY_RESPONSES, gatewayBody } from '../../deploy/gateway-responses.ts'
import { OWN_ANSWER_HEADERS, preflightHeaders } from '../../deploy/gateway-texts.ts'
import { REFUSAL } from '../loopback.ts'

interface GatewayAnswer {
  statusCode: number
  headers: Record<string, string>
  body: string
}

/** The gateway's own answers, as those of the template. */
export function createGatewayAnswers(corsAllowedOrigins: readonly string[]) {
  const isForPages = corsAllowedOrigins.length > 0
  const forPages = isForPages ? OWN_ANSWER_HEADERS : {}

  return {
    /** @param type neither of the two defaults, whose status API Gateway itself decides */
    ofType(type: string): GatewayAnswer {
      const definition = GATEWAY_RESPONSES.find(({ ResponseType }) => ResponseType === type)
      if (definition === undefined) throw new Error(`there is no gateway response ${type}`)
      const requestId = randomUUID()
      const headers: Record<string, string> = { 'content-type': 'application/json', ...forPages }
      for (const [name, value] of Object.entries(definition.ResponseParameters)) {
        const isQuoted = value.startsWith("'")
        headers[name.replace('gatewayresponse.header.', '')] = isQuoted ? value.slice(1, -1) : requestId
      }
      const text = definition.ResponseTemplates['application/json']
      return {
        statusCode: Number(definition.StatusCode),
        headers,
        body: text.replaceAll('$context.extendedRequestId', requestId),
      }
    },

    /** @returns undefined when no page of another origin may use the API: then OPTIONS is a method like any other */
    preflight(methods: readonly string[], origin: string | undefined): GatewayAnswer | undefined {
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
    foreign(): GatewayAnswer {
      const answer = this.ofType('WAF_FILTERED')
      return { ...answer, body: answer.body.replace(/"detail":"[^"]*"/, `"detail":"${REFUSAL}"`) }
    },

    wrongMethod(methods: readonly string[]): GatewayAnswer {
      const allow = (isForPages ? [...methods, 'OPTIONS'].toSorted() : methods).join(', ')
      const requestId = randomUUID()
      const ids = { 'x-request-id': requestId, 'request-id': requestId }
      const own = { 'cache-control': 'no-store', 'content-type': 'application/json', ...ids }
      return {
        statusCode: 404,
        headers: { ...forPages, ...own, allow },
        body: gatewayBody('method_not_allowed').replace('$context.extendedRequestId', requestId),
      }
    },
  }
}
