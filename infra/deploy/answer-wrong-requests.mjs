import { nameOperations, WRONG_METHOD_BODY } from './gateway-texts.mjs'
import { notFound } from './mock-answers.mjs'

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
  const pathOf = (id) => {
    const { PathPart, ParentId } = template.Resources[id].Properties
    return `${ParentId.Ref === undefined ? '' : pathOf(ParentId.Ref)}/${PathPart}`
  }
  const routes = operations.map(({ HttpMethod, ResourceId }) => ({
    method: HttpMethod,
    resource: pathOf(ResourceId.Ref),
  }))
  const bodies = {}
  for (const [, { Properties }] of ofType('AWS::ApiGateway::GatewayResponse')) {
    const templates = Properties.ResponseTemplates
    templates['application/json'] = nameOperations(templates['application/json'], routes)
    bodies[Properties.ResponseType] = templates['application/json']
  }
  for (const id of new Set(operations.map(({ ResourceId }) => ResourceId.Ref))) {
    const allowed = methods.filter(({ ResourceId }) => ResourceId.Ref === id).map(({ HttpMethod }) => HttpMethod)
    if (allowed.includes('ANY')) continue
    const headers = { allow: `'${allowed.toSorted().join(', ')}'` }
    template.Resources[`${id}WrongMethod`] = notFound({ resourceId: id, headers, body: WRONG_METHOD_BODY, origins })
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
  template.Resources[`${UNKNOWN_PATH}Any`] = notFound({ resourceId: UNKNOWN_PATH, headers: {}, body, origins })
}
