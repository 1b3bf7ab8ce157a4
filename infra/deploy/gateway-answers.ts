import { logicalIdOf } from './functions.ts'
import * as own from './gateway-responses.ts'
import { ofType, type Template } from './template.ts'

/** OpenAI's libraries look for the one, Anthropic's for the other. */
const REQUEST_ID = { 'x-request-id': 'context.extendedRequestId', 'request-id': 'context.extendedRequestId' }
const RestApiId = { Ref: 'ApiGatewayRestApi' }
const ROOT = { 'Fn::GetAtt': ['ApiGatewayRestApi', 'RootResourceId'] }
// UNSUPPORTED_MEDIA_TYPE refuses a body of any other type before the mock sees it. These are clients' defaults.
const MEDIA_TYPES = [
  ...['application/json', 'application/octet-stream', 'application/x-www-form-urlencoded', 'multipart/form-data'],
  'text/plain',
]

/**
 * Gives the gateway's own errors our body, and makes it answer wrong methods and unknown paths without a function.
 * @param origins whose pages may read the answers: if there are any, it also answers preflights
 */
export function addGatewayAnswers(template: Template, origins: readonly string[]): void {
  const operations = ofType(template, 'AWS::ApiGateway::Method').map(([, { Properties }]) => Properties)
  const paths = Map.groupBy(operations, ({ ResourceId }) => ResourceId.Ref as string)
  const forPages = origins.length === 0 ? {} : own.OWN_ANSWER_HEADERS
  const headersOf = ({ headers }: own.GatewayAnswer) => ({ ...quoted({ ...headers, ...forPages }), ...REQUEST_ID })
  const add = (id: string, ResourceId: object, answer: own.GatewayAnswer) => {
    template.Resources[id] = mockMethod({ ResourceId, HttpMethod: 'ANY' }, answer, headersOf(answer))
  }
  const pathTo = (id: string): string => {
    const { ParentId, PathPart } = template.Resources[id]?.Properties ?? {}
    return `${ParentId?.Ref ? pathTo(ParentId.Ref) : ''}/${PathPart}`
  }
  for (const [ResponseType, answer] of Object.entries(own.GATEWAY_RESPONSES)) {
    // A status would rewrite the whole class of a default, whose answers keep API Gateway's own.
    const status = ResponseType.startsWith('DEFAULT_') ? {} : { StatusCode: String(answer.status) }
    const ResponseParameters = prefixed('gatewayresponse.header.', headersOf(answer))
    const ResponseTemplates = { 'application/json': answer.body }
    template.Resources[`${logicalIdOf(ResponseType.toLowerCase().replaceAll('_', '-'))}Response`] = {
      Type: 'AWS::ApiGateway::GatewayResponse',
      Properties: { RestApiId, ResponseType, ...status, ResponseParameters, ResponseTemplates },
    }
  }
  for (const [Ref, ofPath] of paths) {
    const methods = ofPath.map(({ HttpMethod }) => HttpMethod as string).toSorted()
    if (origins.length > 0) {
      const preflight = { status: 204, headers: own.preflightHeaders(methods), body: allowOrigin(origins) }
      const method = { ResourceId: { Ref }, HttpMethod: 'OPTIONS' }
      template.Resources[`${Ref}Preflight`] = mockMethod(method, preflight, quoted(preflight.headers))
      methods.push('OPTIONS')
    }
    add(`${Ref}WrongMethod`, { Ref }, own.wrongMethod(pathTo(Ref), methods))
  }
  template.Resources.ApiGatewayResourceUnknownPath = {
    Type: 'AWS::ApiGateway::Resource',
    // API Gateway prefers any other path to it.
    Properties: { RestApiId, ParentId: ROOT, PathPart: '{proxy+}' },
  }
  // Where there is no method, a request with a bearer key would be refused for its signature. {proxy+} is not the root.
  const unknown = own.refusal('route_not_found')
  add('ApiGatewayRootAny', ROOT, unknown)
  for (const [Ref] of ofType(template, 'AWS::ApiGateway::Resource')) {
    if (!paths.has(Ref)) add(`${Ref}Any`, { Ref }, unknown)
  }
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

type Headers = Readonly<Record<string, string>>

/** Fixed header values, which stand in quotes; others are where the value is taken from. */
const quoted = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `'${value}'`]))

const prefixed = (prefix: string, headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [prefix + name, value]))

/** A method that the gateway answers by itself, without a function; ANY stands for those that no operation has. */
function mockMethod(method: { ResourceId: object; HttpMethod: string }, answer: own.GatewayAnswer, headers: Headers) {
  const StatusCode = String(answer.status)
  const ResponseParameters = prefixed('method.response.header.', headers)
  const ResponseTemplates = { 'application/json': answer.body }
  const declared = Object.fromEntries(Object.keys(ResponseParameters).map((name) => [name, true]))
  const Integration = {
    ...{ Type: 'MOCK', PassthroughBehavior: 'NEVER' },
    RequestTemplates: Object.fromEntries(MEDIA_TYPES.map((type) => [type, `{"statusCode":${StatusCode}}`])),
    IntegrationResponses: [{ StatusCode, ResponseParameters, ResponseTemplates }],
  }
  const MethodResponses = [{ StatusCode, ResponseParameters: declared }]
  const open = { RestApiId, ...method, AuthorizationType: 'NONE', ApiKeyRequired: false }
  return { Type: 'AWS::ApiGateway::Method', Properties: { ...open, Integration, MethodResponses } }
}
