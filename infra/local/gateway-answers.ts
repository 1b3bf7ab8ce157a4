import { randomUUID } from 'node:crypto'
import { nameOperations, WRONG_METHOD_BODY } from '../deploy/gateway-texts.mjs'
import type { Route } from './routes.ts'
import type { GatewayResponseDefinition } from './service-definition.ts'

/** An answer that no function makes. */
export interface GatewayAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** Makes the gateway's own answers, of the gateway responses of serverless.yml. */
export function createGatewayAnswers(definitions: readonly GatewayResponseDefinition[], routes: readonly Route[]) {
  const byType = new Map(definitions.map((definition) => [definition.ResponseType, definition]))

  return {
    /** @param ownStatus API Gateway's, for the two defaults, which set none */
    ofType(type: string, ownStatus = 500): GatewayAnswer {
      const definition = byType.get(type)
      if (definition === undefined) throw new Error(`serverless.yml has no gateway response ${type}`)
      const requestId = randomUUID()
      const headers: Record<string, string> = { 'content-type': 'application/json' }
      for (const [name, value] of Object.entries(definition.ResponseParameters)) {
        const isQuoted = value.startsWith("'")
        headers[outgoingName(name.replace('gatewayresponse.header.', ''))] = isQuoted ? value.slice(1, -1) : requestId
      }
      const text = nameOperations(definition.ResponseTemplates['application/json'], routes)
      return {
        status: Number(definition.StatusCode ?? ownStatus),
        headers,
        body: text.replaceAll('$context.requestId', requestId),
      }
    },

    wrongMethod(allowed: readonly string[]): GatewayAnswer {
      const requestId = randomUUID()
      const headers = { 'cache-control': 'no-store', 'content-type': 'application/json', allow: allowed.join(', ') }
      const body = WRONG_METHOD_BODY.replace('$context.requestId', requestId)
      return { status: 404, headers: { ...headers, 'x-request-id': requestId }, body }
    },
  }
}

/** API Gateway gives some headers other names on their way out ("Important notes", REST APIs). */
export function outgoingName(name: string): string {
  return name.toLowerCase() === 'www-authenticate' ? `x-amzn-remapped-${name}` : name
}
