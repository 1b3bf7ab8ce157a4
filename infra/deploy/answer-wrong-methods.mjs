import { OWN_ANSWER_HEADERS } from './cors-texts.mjs'
import { nameOperations, WRONG_METHOD_BODY } from './gateway-texts.mjs'

/**
 * Says in the gateway's own answers which operations there are, and gives every path that has some an answer to all other
 * methods, which the gateway makes without a function.
 * @param template the whole CloudFormation template, changed in place
 * @param {readonly string[]} origins whose pages may read it
 */
export function answerWrongMethods(template, origins) {
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
  for (const [, { Properties }] of ofType('AWS::ApiGateway::GatewayResponse')) {
    const templates = Properties.ResponseTemplates
    templates['application/json'] = nameOperations(templates['application/json'], routes)
  }
  for (const id of new Set(operations.map(({ ResourceId }) => ResourceId.Ref))) {
    const allowed = methods.filter(({ ResourceId }) => ResourceId.Ref === id).map(({ HttpMethod }) => HttpMethod)
    if (!allowed.includes('ANY')) template.Resources[`${id}WrongMethod`] = wrongMethod(id, allowed.toSorted(), origins)
  }
}

function wrongMethod(resourceId, allowed, origins) {
  const forPages = origins.length === 0 ? [] : Object.entries(OWN_ANSWER_HEADERS)
  const headers = {
    allow: `'${allowed.join(', ')}'`,
    'cache-control': "'no-store'",
    'x-request-id': 'context.requestId',
    ...Object.fromEntries(forPages.map(([name, value]) => [name, `'${value}'`])),
  }
  const ofResponse = (values) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [`method.response.header.${name}`, value]))
  return {
    Type: 'AWS::ApiGateway::Method',
    Properties: {
      RestApiId: { Ref: 'ApiGatewayRestApi' },
      ResourceId: { Ref: resourceId },
      HttpMethod: 'ANY',
      AuthorizationType: 'NONE',
      ApiKeyRequired: false,
      Integration: {
        Type: 'MOCK',
        // A body of another media type is refused as such (UNSUPPORTED_MEDIA_TYPE): a mock would take it for its status.
        PassthroughBehavior: 'NEVER',
        RequestTemplates: { 'application/json': '{"statusCode":404}' },
        IntegrationResponses: [
          {
            StatusCode: '404',
            ResponseParameters: ofResponse(headers),
            ResponseTemplates: { 'application/json': WRONG_METHOD_BODY },
          },
        ],
      },
      MethodResponses: [
        {
          StatusCode: '404',
          ResponseParameters: ofResponse(Object.fromEntries(Object.keys(headers).map((name) => [name, true]))),
        },
      ],
    },
  }
}
