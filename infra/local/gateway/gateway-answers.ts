import { randomUUID } from 'node:crypto'
import { nameOperations, OWN_ANSWER_HEADERS, preflightHeaders, WRONG_METHOD_BODY } from '../../deploy/gateway-texts.ts'
import type { GatewayResponseDefinition, Route } from '../../deploy/service-definition.ts'
import { REFUSAL } from '../loopback.ts'

interface GatewayAnswer {
  statusCode: number
  headers: Record<string, string>
  body: string
}

/** Makes the gateway's own answers from the gateway responses of serverless.yml. */
export function createGatewayAnswers(
  definitions: readonly GatewayResponseDefinition[],
  routes: readonly Route[],
  corsAllowedOrigins: readonly string[],
) {
  const isForPages = corsAllowedOrigins.length > 0
  const forPages = isForPages ? OWN_ANSWER_HEADERS : {}
  const byType = new Map(definitions.map((definition) => [definition.ResponseType, definition]))

  return {
    /** @param type neither of the two defaults, whose status API Gateway itself decides */
    ofType(type: string): GatewayAnswer {
      const definition = byType.get(type)
      if (definition === undefined) throw new Error(`serverless.yml has no gateway response ${type}`)
      const requestId = randomUUID()
      const headers: Record<string, string> = { 'content-type': 'application/json', ...forPages }
      for (const [name, value] of Object.entries(definition.ResponseParameters)) {
        const isQuoted = value.startsWith("'")
        headers[name.replace('gatewayresponse.header.', '')] = isQuoted ? value.slice(1, -1) : requestId
      }
      const text = nameOperations(definition.ResponseTemplates['application/json'], routes)
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
        body: WRONG_METHOD_BODY.replace('$context.extendedRequestId', requestId),
      }
    },
  }
}

/** API Gateway renames some response headers ("Important notes", REST APIs). */
export function outgoingName(name: string): string {
  return name.toLowerCase() === 'www-authenticate' ? `x-amzn-remapped-${name}` : name
}
