import { describe, expect, it } from 'vitest'
import { startGateway } from '../../infra/local/gateway/gateway.ts'
import { REASONS } from '../../lib/errors.ts'
import { expectDocumented } from '../support/api/openapi.ts'
import { headersOf, operationsOf } from '../support/template/packaged-gateway.ts'
import { type Packaged, packagedServices } from '../support/template/packages.ts'

const [dev, withPages] = await packagedServices('dev', 'existing')

it.each([
  ['', dev],
  [', also with preflights', withPages],
])(
  'a method that a path does not have is answered by the gateway with 404, Allow and a reason, on every path that has operations%s',
  (_, service) => {
    for (const { ResourceId: of, path } of operationsOf(service)) {
      const all = service.propertiesOf('AWS::ApiGateway::Method')
      const methods = all.filter(({ ResourceId }) => ResourceId.Ref === of.Ref)
      const allowed = methods.map(({ HttpMethod }) => HttpMethod).filter((method) => method !== 'ANY')
      const other = methods.find(({ HttpMethod }) => HttpMethod === 'ANY')
      expect(other?.Integration).toMatchObject({ Type: 'MOCK', PassthroughBehavior: 'NEVER' })
      const templates: Record<string, string> = other?.Integration.RequestTemplates
      expect(new Set(Object.values(templates))).toEqual(new Set(['{"statusCode":404}']))
      expect(Object.keys(templates)).toContain('application/json')
      const [answer, ...others] = other?.Integration.IntegrationResponses ?? []
      expect(others).toEqual([])
      expect(answer.StatusCode).toBe('404')
      const declared = other?.MethodResponses[0].ResponseParameters
      expect(Object.keys(declared)).toEqual(Object.keys(answer.ResponseParameters))
      const headers = headersOf(answer.ResponseParameters)
      expect(headers.allow).toBe(allowed.toSorted().join(', '))
      const body = JSON.parse(answer.ResponseTemplates['application/json'])
      expectDocumented({ status: 404, headers: { ...headers, 'cache-control': 'no-store' }, body })
      expect(body.error.metadata.reason).toBe('method_not_allowed')
      const hint = /made with PUT|no uploads/.exec(body.error.metadata.detail)?.[0]
      const hintOfPath = path.startsWith('/v1/workspaces') ? 'made with PUT' : path.endsWith('/files') && 'no uploads'
      expect(hint, path).toBe(hintOfPath || undefined)
    }
  },
)

describe('a path that the API does not have', () => {
  const ROOT = { 'Fn::GetAtt': ['ApiGatewayRestApi', 'RootResourceId'] }
  const unknownPath = (service: Packaged) => service.resource('ApiGatewayResourceUnknownPathAny').Properties.Integration

  it('is answered by the gateway without a function, whatever its method and media type', () => {
    const { PathPart, ParentId } = dev.resource('ApiGatewayResourceUnknownPath').Properties
    expect([PathPart, ParentId]).toEqual(['{proxy+}', ROOT])
    expect(unknownPath(dev).Type).toBe('MOCK')
    const types = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']
    expect(Object.keys(unknownPath(dev).RequestTemplates)).toEqual(expect.arrayContaining(types))
  })

  it('has a method all the same, the root, too: else a bearer key would be refused for its signature', () => {
    const methods = dev.propertiesOf('AWS::ApiGateway::Method').filter(({ HttpMethod }) => HttpMethod === 'ANY')
    const resources = [ROOT, ...dev.idsOfType('AWS::ApiGateway::Resource').map((Ref) => ({ Ref }))]
    expect(methods.map(({ ResourceId }) => ResourceId)).toEqual(expect.arrayContaining(resources))
    const withOperations = new Set(operationsOf(dev).map(({ ResourceId }) => ResourceId.Ref))
    for (const { ResourceId, Integration } of methods) {
      if (!withOperations.has(ResourceId.Ref)) expect(Integration).toEqual(unknownPath(dev))
    }
  })

  it('gets one plain 404 that says in a line how paths begin: the gateway response, as the local gateway gives it', async () => {
    const invoke = () => Promise.reject(new Error('a function was invoked'))
    const gateway = await startGateway({ routes: [], port: 0, invoke, corsAllowedOrigins: [] })
    const local = await fetch(`http://127.0.0.1:${gateway.port}/v1/none`)
    const localBody = await local.json()
    await gateway.stop()
    for (const service of [dev, withPages]) {
      const [{ StatusCode, ResponseTemplates }] = unknownPath(service).IntegrationResponses
      const text = ResponseTemplates['application/json']
      const own = service.propertiesOf('AWS::ApiGateway::GatewayResponse')
      const ofGateway = own.find(({ ResponseType }) => ResponseType === 'MISSING_AUTHENTICATION_TOKEN')
      expect(text).toBe(ofGateway?.ResponseTemplates['application/json'])
      const body = JSON.parse(text.replace('$context.extendedRequestId', `${local.headers.get('x-request-id')}`))
      expect(body).toEqual(localBody)
      expect([Number(StatusCode), local.status]).toEqual([body.error.code, 404])
      const headers = { 'x-request-id': 'x', 'request-id': 'x', 'cache-control': 'no-store' }
      expectDocumented({ status: 404, headers, body })
      expect(body.error.metadata).toEqual({
        reason: 'route_not_found',
        detail: expect.stringMatching(/^The API has no such path\. Each begins with one of .{1,100}\. Perhaps \/v1 is/),
      })
      // That of a link is handed out whole.
      for (const { path } of operationsOf(service).filter((each) => !each.path.startsWith('/l/')))
        expect(body.error.metadata.detail).toContain(path.split('/').slice(0, 3).join('/'))
    }
  })
})

/** Directives, and variables with what is called on them. */
const usedBy = (templates: Record<string, string> = {}) =>
  Object.values(templates).flatMap((text) => text.match(/#\w+|\$!?\{?[\w-]+(?:\.[\w-]+)*(?:\([^)]*\))?/g) ?? [])

it('templates read nothing of the request but its origin, and call nothing: no pattern that somebody could make expensive', () => {
  const services = [dev, withPages]
  const methods = services.flatMap((service) => service.propertiesOf('AWS::ApiGateway::Method'))
  const answers = methods.flatMap(({ Integration }) => Integration.IntegrationResponses ?? [])
  for (const answer of answers) expect(answer).not.toHaveProperty('SelectionPattern')
  const own = services.flatMap((service) => service.propertiesOf('AWS::ApiGateway::GatewayResponse'))
  const used = [...answers, ...own].flatMap(({ ResponseTemplates }) => usedBy(ResponseTemplates))
  expect(new Set(used)).toEqual(
    new Set([
      ...['$context.extendedRequestId', '#set', '#if', '#end', '$origin'],
      ...['$input.params("Origin")', '$input.params("origin")'],
      '$context.responseOverride.header.Access-Control-Allow-Origin',
    ]),
  )
  expect(methods.flatMap(({ Integration }) => usedBy(Integration.RequestTemplates))).toEqual([])
})

describe('gateway responses', () => {
  /** API Gateway, "Gateway response types". The defaults are for all others: of these, only their class is known. */
  const TYPES = (
    'ACCESS_DENIED DEFAULT_4XX DEFAULT_5XX EXPIRED_TOKEN INTEGRATION_FAILURE INTEGRATION_TIMEOUT INVALID_API_KEY ' +
    'INVALID_SIGNATURE MISSING_AUTHENTICATION_TOKEN QUOTA_EXCEEDED REQUEST_TOO_LARGE RESOURCE_NOT_FOUND THROTTLED ' +
    'UNAUTHORIZED UNSUPPORTED_MEDIA_TYPE WAF_FILTERED'
  ).split(' ')
  const EXPECTED_STATUS: Record<string, number> = {
    DEFAULT_4XX: 400,
    DEFAULT_5XX: 500,
    MISSING_AUTHENTICATION_TOKEN: 404,
    INTEGRATION_TIMEOUT: 503,
    INTEGRATION_FAILURE: 500,
    THROTTLED: 429,
    REQUEST_TOO_LARGE: 413,
  }
  const responses = dev.propertiesOf('AWS::ApiGateway::GatewayResponse')

  it('are there for each type whose answer is not the default of its class', () => {
    expect(responses.map(({ ResponseType }) => ResponseType).toSorted()).toEqual(TYPES)
  })

  it.each(TYPES)('gives %s our error body, its code the status', (type) => {
    const { StatusCode, ResponseParameters, ResponseTemplates } =
      responses.find(({ ResponseType }) => ResponseType === type) ?? {}
    const isDefault = type.startsWith('DEFAULT_')
    expect(StatusCode === undefined, 'a status on a default rewrites its whole class').toBe(isDefault)
    const body = JSON.parse(ResponseTemplates['application/json'])
    const status = isDefault ? body.error.code : Number(StatusCode)
    if (EXPECTED_STATUS[type]) expect(status).toBe(EXPECTED_STATUS[type])
    expect(body.error.code).toBe(status)
    const headers = headersOf(ResponseParameters)
    expect(headers['x-request-id']).toBe('context.extendedRequestId')
    expectDocumented({ status, headers, body })
    expect(headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined)
    const { reason } = body.error.metadata as { reason: keyof typeof REASONS }
    if (REASONS[reason]) expect(REASONS[reason].status).toBe(status)
  })
})
