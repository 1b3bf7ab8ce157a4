import { gatewayBody } from './gateway-responses.ts'
import { OWN_ANSWER_HEADERS, preflightHeaders } from './gateway-texts.ts'
import { ofType, type Resource, type Template } from './template.ts'

/** OpenAI's libraries look for the one, Anthropic's for the other. */
const REQUEST_ID = { 'x-request-id': 'context.extendedRequestId', 'request-id': 'context.extendedRequestId' }
const UNKNOWN_PATH = 'ApiGatewayResourceUnknownPath'
// UNSUPPORTED_MEDIA_TYPE refuses a body of any other type before the mock sees it. These are clients' defaults.
const MEDIA_TYPES = [
  'application/json',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'text/plain',
]

/**
 * Makes the gateway answer wrong methods and unknown paths without a function, with a list of the operations. If there
 * are origins, it also answers preflights; without any, browsers let no page of another origin in.
 * @param template changed in place
 * @param origins whose pages may read the answers
 */
export function addGatewayAnswers(template: Template, origins: readonly string[]): void {
  const operations = ofType(template, 'AWS::ApiGateway::Method').map(([, { Properties }]) => Properties)
  const paths = Map.groupBy(operations, ({ ResourceId }) => ResourceId.Ref as string)
  const forPages = origins.length === 0 ? {} : OWN_ANSWER_HEADERS
  const headers = { ...quoted({ 'cache-control': 'no-store', ...forPages }), ...REQUEST_ID }
  for (const [resourceId, ofPath] of paths) {
    const methods = ofPath.map(({ HttpMethod }) => HttpMethod as string).toSorted()
    if (origins.length > 0) {
      const answer = { status: 204, headers: quoted(preflightHeaders(methods)), body: allowOrigin(origins) }
      template.Resources[`${resourceId}Preflight`] = mockMethod({ Ref: resourceId }, 'OPTIONS', answer)
      methods.push('OPTIONS')
    }
    const withAllow = { ...headers, ...quoted({ allow: methods.toSorted().join(', ') }) }
    const answer = { status: 404, headers: withAllow, body: gatewayBody('method_not_allowed') }
    template.Resources[`${resourceId}WrongMethod`] = mockMethod({ Ref: resourceId }, 'ANY', answer)
  }
  for (const [, { Properties }] of ofType(template, 'AWS::ApiGateway::GatewayResponse')) {
    for (const [name, value] of Object.entries(forPages))
      Properties.ResponseParameters[`gatewayresponse.header.${name}`] = `'${value}'`
  }
  const root = { 'Fn::GetAtt': ['ApiGatewayRestApi', 'RootResourceId'] }
  template.Resources[UNKNOWN_PATH] = {
    Type: 'AWS::ApiGateway::Resource',
    // API Gateway prefers any other path to it.
    Properties: { RestApiId: { Ref: 'ApiGatewayRestApi' }, ParentId: root, PathPart: '{proxy+}' },
  }
  // Where there is no method, a request with a bearer key would be refused for its signature. {proxy+} is not the root.
  const unknown = { status: 404, headers, body: gatewayBody('route_not_found') }
  template.Resources.ApiGatewayRootAny = mockMethod(root, 'ANY', unknown)
  for (const [id] of ofType(template, 'AWS::ApiGateway::Resource')) {
    if (!paths.has(id)) template.Resources[`${id}Any`] = mockMethod({ Ref: id }, 'ANY', unknown)
  }
}

/** The path of a resource of the REST API. */
export function pathOf(template: Template, { Ref: id }: { Ref: string }): string {
  const { ParentId, PathPart } = template.Resources[id]?.Properties ?? {}
  return `${ParentId.Ref ? pathOf(template, ParentId) : ''}/${PathPart}`
}

/** A header can name one origin only: the one that asks, if it is one of them. The settings' check lets no quote in. */
function allowOrigin(origins: readonly string[]): string {
  const isAllowed = origins.map((origin) => `$origin == "${origin}"`).join(' || ')
  return [
    '#set($origin = $input.params("Origin"))',
    '#if($origin == "")#set($origin = $input.params("origin"))#end',
    `#if(${isAllowed})#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)#end`,
  ].join('\n')
}

interface Answer {
  status: number
  /** By name: the value in quotes, or where it is taken from. */
  headers: Record<string, string>
  /** A mapping template. */
  body: string
}

/** What the gateway answers by itself, without a function. @param method ANY: every method that no operation has */
function mockMethod(ResourceId: object, method: string, { status, headers, body }: Answer): Resource {
  const ofResponse = (toValue: (value: string) => string | true) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [`method.response.header.${name}`, toValue(value)]),
    )
  const StatusCode = String(status)
  const ResponseTemplates = { 'application/json': body }
  return {
    Type: 'AWS::ApiGateway::Method',
    Properties: {
      RestApiId: { Ref: 'ApiGatewayRestApi' },
      ResourceId,
      HttpMethod: method,
      AuthorizationType: 'NONE',
      ApiKeyRequired: false,
      Integration: {
        Type: 'MOCK',
        PassthroughBehavior: 'NEVER',
        RequestTemplates: Object.fromEntries(MEDIA_TYPES.map((type) => [type, `{"statusCode":${status}}`])),
        IntegrationResponses: [{ StatusCode, ResponseParameters: ofResponse((value) => value), ResponseTemplates }],
      },
      MethodResponses: [{ StatusCode, ResponseParameters: ofResponse(() => true) }],
    },
  }
}

/** Fixed header values, which stand in quotes. */
const quoted = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `'${value}'`]))
