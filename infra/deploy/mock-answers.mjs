import { OWN_ANSWER_HEADERS } from './cors-texts.mjs'

/**
 * A body of a media type without a template is refused before the mock sees it (UNSUPPORTED_MEDIA_TYPE), since the mock
 * would take it for its status. So there is a template for each type that clients send when nobody tells them
 * otherwise.
 */
const MEDIA_TYPES = [
  'application/json',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'text/plain',
]

/**
 * A method that the gateway answers with 404 by itself, without a function: whatever method no operation has.
 * @param {object} answer
 * @param {string} answer.resourceId
 * @param {Record<string, string>} answer.headers besides those of all such answers
 * @param {string} answer.body a mapping template
 * @param {readonly string[]} answer.origins whose pages may read it
 */
export function notFound({ resourceId, headers, body, origins }) {
  const forPages = origins.length === 0 ? [] : Object.entries(OWN_ANSWER_HEADERS)
  const all = {
    ...headers,
    'cache-control': "'no-store'",
    'x-request-id': 'context.requestId',
    ...Object.fromEntries(forPages.map(([name, value]) => [name, `'${value}'`])),
  }
  const ofResponse = (toValue) =>
    Object.fromEntries(Object.entries(all).map(([name, value]) => [`method.response.header.${name}`, toValue(value)]))
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
        PassthroughBehavior: 'NEVER',
        RequestTemplates: Object.fromEntries(MEDIA_TYPES.map((type) => [type, '{"statusCode":404}'])),
        IntegrationResponses: [
          {
            StatusCode: '404',
            ResponseParameters: ofResponse((value) => value),
            ResponseTemplates: { 'application/json': body },
          },
        ],
      },
      MethodResponses: [{ StatusCode: '404', ResponseParameters: ofResponse(() => true) }],
    },
  }
}
