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
 * A method that the gateway answers by itself, without a function.
 * @param {object} answer
 * @param {string} answer.resourceId
 * @param {string} answer.method ANY: whatever method no operation has
 * @param {string} answer.status
 * @param {Record<string, string>} answer.headers in quotes, or what they are taken from
 * @param {string} answer.body a mapping template
 */
export function mockAnswer({ resourceId, method, status, headers, body }) {
  const ofResponse = (toValue) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [`method.response.header.${name}`, toValue(value)]),
    )
  return {
    Type: 'AWS::ApiGateway::Method',
    Properties: {
      RestApiId: { Ref: 'ApiGatewayRestApi' },
      ResourceId: { Ref: resourceId },
      HttpMethod: method,
      AuthorizationType: 'NONE',
      ApiKeyRequired: false,
      Integration: {
        Type: 'MOCK',
        PassthroughBehavior: 'NEVER',
        RequestTemplates: Object.fromEntries(MEDIA_TYPES.map((type) => [type, `{"statusCode":${status}}`])),
        IntegrationResponses: [
          {
            StatusCode: status,
            ResponseParameters: ofResponse((value) => value),
            ResponseTemplates: { 'application/json': body },
          },
        ],
      },
      MethodResponses: [{ StatusCode: status, ResponseParameters: ofResponse(() => true) }],
    },
  }
}

/** Header values that are fixed: in quotes. */
export const quoted = (headers) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `'${value}'`]))
