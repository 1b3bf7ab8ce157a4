import { OWN_ANSWER_HEADERS } from './cors-texts.mjs'
import { nameOperations, WRONG_METHOD_BODY } from './gateway-texts.mjs'
import { mockAnswer, quoted } from './mock-answers.mjs'

const UNKNOWN_PATH = 'ApiGatewayResourceUnknownPath'

/**
 * Lists the operations in the gateway's own answers, and lets the gateway answer wrong methods and unknown paths
 * itself.
 * @param template the whole CloudFormation template, changed in place
 * @param {readonly string[]} origins whose pages may read it
 */
export function answerWrongRequests(template, origins) {
  const ofType = (type) => Object.entries(template.Resources).filter(([, resource]) => resource.Type === type)
  const methods = ofType('AWS::ApiGateway::Method').map(([, { Properties }]) => Properties)
  const operations = methods.filter(({ HttpMethod }) => HttpMethod !== 'OPTIONS')
  const routes = operations.map(({ HttpMethod, ResourceId }) => ({
    method: HttpMethod,
    resource: pathOf(template, ResourceId),
  }))
  const forPages = origins.length === 0 ? {} : OWN_ANSWER_HEADERS
  const headers = { ...quoted({ 'cache-control': 'no-store', ...forPages }), 'x-request-id': 'context.requestId' }
  const notFound = { method: 'ANY', status: '404', headers }
  const bodies = {}
  for (const [, { Properties }] of ofType('AWS::ApiGateway::GatewayResponse')) {
    const templates = Properties.ResponseTemplates
    templates['application/json'] = nameOperations(templates['application/json'], routes)
    bodies[Properties.ResponseType] = templates['application/json']
  }
  for (const id of new Set(operations.map(({ ResourceId }) => ResourceId.Ref))) {
    const allowed = methods.filter(({ ResourceId }) => ResourceId.Ref === id).map(({ HttpMethod }) => HttpMethod)
    if (allowed.includes('ANY')) continue
    const withAllow = { ...headers, ...quoted({ allow: allowed.toSorted().join(', ') }) }
    const answer = { ...notFound, resourceId: id, headers: withAllow, body: WRONG_METHOD_BODY }
    template.Resources[`${id}WrongMethod`] = mockAnswer(answer)
  }
  template.Resources[UNKNOWN_PATH] = {
    Type: 'AWS::ApiGateway::Resource',
    Properties: {
      RestApiId: { Ref: 'ApiGatewayRestApi' },
      ParentId: { 'Fn::GetAtt': ['ApiGatewayRestApi', 'RootResourceId'] },
      // API Gateway prefers any other path to it. Without it, a request with a bearer key would be refused for its
      // signature.
      PathPart: '{proxy+}',
    },
  }
  const body = bodies.MISSING_AUTHENTICATION_TOKEN
  template.Resources[`${UNKNOWN_PATH}Any`] = mockAnswer({ ...notFound, resourceId: UNKNOWN_PATH, body })
}

/** @param {{ Ref: string }} resourceId of a resource of the REST API */
export function pathOf({ Resources }, { Ref: id }) {
  const { ParentId, PathPart } = Resources[id].Properties
  return `${ParentId.Ref ? pathOf({ Resources }, ParentId) : ''}/${PathPart}`
}
