import { beforeAll, describe, expect, it } from 'vitest'
import { REASONS } from '../../lib/errors.ts'
import { EXPOSED_HEADERS } from '../../lib/http/cors.ts'
import { textOf } from '../support/intrinsics.ts'
import { DOCUMENTED_REASONS, expectDocumented, OPENAPI } from '../support/openapi.ts'
import {
  EXISTING,
  PACKAGING_TIMEOUT_MS,
  type Packaged,
  packagedService,
  type Resource,
  THRESHOLDS,
} from '../support/packages.ts'

let dev: Packaged
let prod: Packaged
let existing: Packaged
beforeAll(async () => {
  ;[dev, prod, existing] = await Promise.all([
    packagedService('dev'),
    packagedService('prod'),
    packagedService('existing'),
  ])
}, PACKAGING_TIMEOUT_MS)

function pathOf(resourceId: string): string {
  const { ParentId, PathPart } = dev.resource(resourceId).Properties
  return `${ParentId.Ref ? pathOf(ParentId.Ref) : ''}/${PathPart}`
}

/** The methods that functions answer. */
const operations = () =>
  dev.ofType('AWS::ApiGateway::Method').filter(({ Properties }) => Properties.Integration.Type === 'AWS_PROXY')

describe('the API', () => {
  it('has a regional REST API without an authorizer of its own', () => {
    expect(dev.resource('ApiGatewayRestApi').Properties.EndpointConfiguration).toEqual({ Types: ['REGIONAL'] })
    for (const { Properties } of dev.ofType('AWS::ApiGateway::Method')) {
      expect(Properties).toMatchObject({ AuthorizationType: 'NONE', ApiKeyRequired: false })
    }
  })

  it('has the routes of docs/openapi.yaml, and no other', () => {
    const routes = operations().map(({ Properties }) => `${Properties.HttpMethod} ${pathOf(Properties.ResourceId.Ref)}`)
    const documented = Object.entries(OPENAPI.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method.toUpperCase()} /v1${path}`),
    )
    expect(routes.toSorted()).toEqual(documented.toSorted())
  })

  it('neither converts bodies from and to binary nor compresses them', () => {
    const { Properties } = dev.resource('ApiGatewayRestApi')
    expect(Properties).not.toHaveProperty('BinaryMediaTypes')
    expect(Properties).not.toHaveProperty('MinimumCompressionSize')
    expect(operations()[0]?.Properties.Integration).not.toHaveProperty('ContentHandling')
  })

  it('deploys what the gateway answers itself together with the API', () => {
    const [deployment] = dev.ofType('AWS::ApiGateway::Deployment')
    const waitsFor = [...dev.idsOfType('AWS::ApiGateway::GatewayResponse'), ...dev.idsOfType('AWS::ApiGateway::Method')]
    expect(new Set(deployment?.DependsOn)).toEqual(new Set(waitsFor))
  })
})

describe('the stage', () => {
  it('is the one of the template, at the deployment of this package', () => {
    const [deploymentId] = dev.idsOfType('AWS::ApiGateway::Deployment')
    expect(dev.ofType('AWS::ApiGateway::Stage')).toHaveLength(1)
    expect(dev.resource('GatewayStage').Properties).toMatchObject({
      StageName: 'dev',
      DeploymentId: { Ref: deploymentId },
    })
    expect(dev.resource(deploymentId ?? '').Properties).not.toHaveProperty('StageName')
  })

  it('throttles the stage and each method, by parameters', () => {
    const settings = (service: Packaged) => service.resource('GatewayStage').Properties.MethodSettings
    const methods = operations().map(({ Properties }) => ({
      HttpMethod: Properties.HttpMethod,
      ResourcePath: `/${pathOf(Properties.ResourceId.Ref).replaceAll('/', '~1')}`,
    }))
    expect(methods).toContainEqual({ HttpMethod: 'DELETE', ResourcePath: '/~1v1~1files~1{document_id}' })
    const limited = [{ HttpMethod: '*', ResourcePath: '/*' }, ...methods]
    expect(settings(dev)).toMatchObject(
      limited.map((each) => ({ ...each, ThrottlingRateLimit: '500', ThrottlingBurstLimit: '1000' })),
    )
    expect(settings(prod)).toMatchObject(
      limited.map((each) => ({
        ...each,
        ThrottlingRateLimit: THRESHOLDS.throttleRatePerSecond,
        ThrottlingBurstLimit: THRESHOLDS.throttleBurst,
      })),
    )
  })

  it('writes access logs in JSON, without any header but the user agent, kept for a while', () => {
    const { DestinationArn, Format } = prod.resource('GatewayStage').Properties.AccessLogSetting
    expect(DestinationArn).toEqual({ 'Fn::GetAtt': ['GatewayLogGroup', 'Arn'] })
    expect(prod.resource('GatewayLogGroup').Properties).toMatchObject({ RetentionInDays: '90' })
    expect(JSON.parse(Format)).toMatchObject({
      requestId: '$context.requestId',
      status: '$context.status',
      resource: '$context.resourcePath',
      latencyMs: '$context.responseLatency',
      integrationLatencyMs: '$context.integration.latency',
      integrationStatus: '$context.integration.status',
      sourceIp: '$context.identity.sourceIp',
      userAgent: '$context.identity.userAgent',
    })
    expect(Format).not.toMatch(/authorization|\$input|header|apiKey|\$context\.path\b/i)
  })

  it('writes no execution logs, which would hold keys', () => {
    for (const settings of dev.resource('GatewayStage').Properties.MethodSettings) {
      expect(settings).toMatchObject({ LoggingLevel: 'OFF', DataTraceEnabled: false })
    }
  })

  it('is traced, as all functions are', () => {
    expect(dev.resource('GatewayStage').Properties.TracingEnabled).toBe(true)
    for (const { Properties } of dev.ofType('AWS::Lambda::Function')) {
      expect(Properties.TracingConfig).toEqual({ Mode: 'Active' })
    }
  })

  it('waits for the role that writes logs, which stays when the stack goes, where it is to make it', () => {
    expect(dev.resource('GatewayStage').DependsOn).toEqual(['GatewayAccount'])
    for (const id of ['GatewayAccount', 'GatewayLogRole']) expect(dev.resource(id).DeletionPolicy).toBe('Retain')
    expect(existing.resource('GatewayStage').DependsOn).toBeUndefined()
    expect(existing.idsOfType('AWS::ApiGateway::Account')).toEqual([])
  })

  it('gets the existing web ACL', () => {
    expect(dev.idsOfType('AWS::WAFv2::WebACLAssociation')).toEqual([])
    const { WebACLArn, ResourceArn } = existing.resource('WebAclAssociation').Properties
    expect(WebACLArn).toBe(EXISTING.webAclArn)
    expect(textOf(ResourceArn)).toBe(
      'arn:<AWS::Partition>:apigateway:<AWS::Region>::/restapis/<ApiGatewayRestApi>/stages/<GatewayStage>',
    )
  })
})

describe('the custom domain', () => {
  it('is there only when it is given', () => {
    expect(dev.idsOfType('AWS::ApiGateway::DomainName')).toEqual([])
    expect(dev.idsOfType('AWS::Route53::RecordSet')).toEqual([])
    expect(textOf(dev.outputs.BaseUrl?.Value)).toBe(
      'https://<ApiGatewayRestApi>.execute-api.<AWS::Region>.<AWS::URLSuffix>/<GatewayStage>/v1',
    )
  })

  it('is regional, takes TLS 1.2 and newer, and leads to the stage', () => {
    expect(existing.resource('CustomDomain').Properties).toEqual({
      DomainName: EXISTING.customDomainName,
      RegionalCertificateArn: EXISTING.certificateArn,
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'TLS_1_2',
    })
    expect(existing.resource('CustomDomainMapping').Properties).toEqual({
      DomainName: { Ref: 'CustomDomain' },
      RestApiId: { Ref: 'ApiGatewayRestApi' },
      Stage: { Ref: 'GatewayStage' },
    })
    expect(existing.outputs.BaseUrl?.Value).toBe('https://files.example.com/v1')
  })

  it('has records for IPv4 and IPv6 in the hosted zone', () => {
    const records = existing.ofType('AWS::Route53::RecordSet').map(({ Properties }) => Properties)
    expect(records).toMatchObject(
      ['A', 'AAAA'].map((Type) => ({ Type, Name: EXISTING.customDomainName, HostedZoneId: EXISTING.hostedZoneId })),
    )
  })
})

describe('a method that a path does not have', () => {
  it('is answered by the gateway with 404, Allow and a reason of its own, on every path that has operations', () => {
    const paths = new Set(operations().map(({ Properties }) => Properties.ResourceId.Ref))
    for (const path of paths) {
      const methods = dev
        .ofType('AWS::ApiGateway::Method')
        .map(({ Properties }) => Properties)
        .filter(({ ResourceId }) => ResourceId.Ref === path)
      const allowed = methods.map(({ HttpMethod }) => HttpMethod).filter((method) => method !== 'ANY')
      const other = methods.find(({ HttpMethod }) => HttpMethod === 'ANY')
      expect(other?.Integration).toMatchObject({ Type: 'MOCK', PassthroughBehavior: 'NEVER' })
      const templates: Record<string, string> = other?.Integration.RequestTemplates
      expect(new Set(Object.values(templates))).toEqual(new Set(['{"statusCode":404}']))
      expect(Object.keys(templates)).toContain('application/json')
      const [answer, ...others] = other?.Integration.IntegrationResponses ?? []
      expect(others).toEqual([])
      const declared = other?.MethodResponses[0].ResponseParameters
      expect(Object.keys(declared)).toEqual(Object.keys(answer.ResponseParameters))
      const headers = Object.fromEntries(
        Object.entries<string>(answer.ResponseParameters).map(([name, value]) => [name.split('.').at(-1), value]),
      )
      expect(headers.allow).toBe(`'${allowed.toSorted().join(', ')}'`)
      const body = JSON.parse(answer.ResponseTemplates['application/json'])
      expectDocumented({ status: 404, headers: { ...headers, 'cache-control': 'no-store' } as never, body })
      expect(body.error.metadata.reason).toBe('method_not_allowed')
    }
  })
})

describe('CORS', () => {
  const methodsOf = (service: Packaged, method: string) =>
    service.ofType('AWS::ApiGateway::Method').filter(({ Properties }) => Properties.HttpMethod === method)
  const ofHeaders = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name.split('.').at(-1), value.slice(1, -1)]))

  it('is not there unless origins are named', () => {
    expect(methodsOf(dev, 'OPTIONS')).toEqual([])
    expect(JSON.stringify(dev.resources)).not.toMatch(/access-control/i)
  })

  it('has preflights answered by the gateway, on every path, for the origins that were named', () => {
    const preflights = methodsOf(existing, 'OPTIONS')
    // Unknown paths have none.
    expect(preflights).toHaveLength(methodsOf(existing, 'ANY').length - 1)
    const methodsByPath: Record<string, unknown> = {}
    for (const { Properties } of preflights) {
      expect(Properties.Integration).toMatchObject({
        Type: 'MOCK',
        RequestTemplates: { 'application/json': '{"statusCode":204}' },
      })
      const [answer] = Properties.Integration.IntegrationResponses
      const headers = ofHeaders(answer.ResponseParameters)
      expect(headers.vary).toBe('Origin')
      methodsByPath[pathOf(Properties.ResourceId.Ref)] = headers['access-control-allow-methods']
      expect(Object.keys(Properties.MethodResponses[0].ResponseParameters)).toEqual(
        Object.keys(answer.ResponseParameters),
      )
      const template = answer.ResponseTemplates['application/json']
      expect(template).toContain('#if($origin == "https://app.example.com" || $origin == "http://localhost:5173")')
    }
    expect(methodsByPath).toEqual({
      '/v1/containers/{container_id}/files': 'GET',
      '/v1/containers/{container_id}/files/{file_id}': 'GET',
      '/v1/containers/{container_id}/files/{file_id}/content': 'GET',
      '/v1/containers/{container_id}/files/{file_id}/promote': 'POST',
      '/v1/files': 'GET',
      '/v1/files/{document_id}': 'DELETE, GET',
      '/v1/files/{document_id}/content': 'GET',
    })
    const [deployment] = existing.ofType('AWS::ApiGateway::Deployment')
    expect(deployment?.DependsOn).toEqual(expect.arrayContaining(existing.idsOfType('AWS::ApiGateway::Method')))
  })

  it("lets pages read the gateway's own answers, and the headers that carry meaning", () => {
    const own = existing
      .ofType('AWS::ApiGateway::GatewayResponse')
      .map(({ Properties }) => Properties.ResponseParameters)
    const other = methodsOf(existing, 'ANY').map(
      ({ Properties }) => Properties.Integration.IntegrationResponses[0].ResponseParameters,
    )
    expect(other.length).toBeGreaterThan(0)
    for (const headers of [...own, ...other]) {
      expect(ofHeaders(headers)).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-expose-headers': EXPOSED_HEADERS,
      })
    }
    expect(new Set(other.map((headers) => ofHeaders(headers).allow))).toEqual(
      new Set(['GET, OPTIONS', 'OPTIONS, POST', 'DELETE, GET, OPTIONS', undefined]),
    )
  })
})

describe('gateway responses', () => {
  /** API Gateway, "Gateway response types". */
  const TYPES = (
    'ACCESS_DENIED API_CONFIGURATION_ERROR AUTHORIZER_CONFIGURATION_ERROR AUTHORIZER_FAILURE BAD_REQUEST_BODY ' +
    'BAD_REQUEST_PARAMETERS DEFAULT_4XX DEFAULT_5XX EXPIRED_TOKEN INTEGRATION_FAILURE INTEGRATION_TIMEOUT INVALID_API_KEY ' +
    'INVALID_SIGNATURE MISSING_AUTHENTICATION_TOKEN QUOTA_EXCEEDED REQUEST_TOO_LARGE RESOURCE_NOT_FOUND THROTTLED ' +
    'UNAUTHORIZED UNSUPPORTED_MEDIA_TYPE WAF_FILTERED'
  ).split(' ')
  const EXPECTED_STATUS: Record<string, number> = {
    MISSING_AUTHENTICATION_TOKEN: 404,
    INTEGRATION_TIMEOUT: 503,
    INTEGRATION_FAILURE: 503,
    THROTTLED: 429,
    REQUEST_TOO_LARGE: 413,
  }
  const responses = (): Resource[] => dev.ofType('AWS::ApiGateway::GatewayResponse')

  it.each(TYPES)('gives %s our error body, its code the status', (type) => {
    const found = responses().filter(({ Properties }) => Properties.ResponseType === type)
    expect(found).toHaveLength(1)
    const { StatusCode, ResponseParameters, ResponseTemplates } = found[0]?.Properties ?? {}
    const isDefault = type.startsWith('DEFAULT_')
    expect(StatusCode === undefined, 'a status on a default rewrites its whole class').toBe(isDefault)
    const body = JSON.parse(ResponseTemplates['application/json'])
    const status = isDefault ? body.error.code : Number(StatusCode)
    if (EXPECTED_STATUS[type]) expect(status).toBe(EXPECTED_STATUS[type])
    expect(body.error.code).toBe(status)
    const headers = Object.fromEntries(
      Object.entries(ResponseParameters as Record<string, string>).map(([name, value]) => [
        name.replace('gatewayresponse.header.', ''),
        value.startsWith("'") ? value.slice(1, -1) : value,
      ]),
    )
    expect(headers['x-request-id']).toBe('context.requestId')
    expectDocumented({ status, headers, body })
    const { reason } = body.error.metadata as { reason: keyof typeof REASONS }
    if (REASONS[reason]) expect(REASONS[reason].status).toBe(status)
  })

  it('has no gateway response that API Gateway does not know', () => {
    expect(responses()).toHaveLength(TYPES.length)
  })

  it('has no reason that docs/openapi.yaml lacks, nor has the code', () => {
    const reasons = responses().map(
      ({ Properties }) => JSON.parse(Properties.ResponseTemplates['application/json']).error.metadata.reason,
    )
    const all = [...Object.keys(REASONS), ...reasons, 'method_not_allowed']
    expect(new Set(DOCUMENTED_REASONS)).toEqual(new Set(all))
    expect(DOCUMENTED_REASONS, 'a reason has one form').toHaveLength(new Set(all).size)
  })

  it('names the operations to who looks for one that is not there', () => {
    const lists = responses().flatMap(({ Properties }) => {
      const { reason, detail } = JSON.parse(Properties.ResponseTemplates['application/json']).error.metadata
      return reason === 'route_not_found' ? [detail] : []
    })
    expect(lists).toHaveLength(5)
    for (const detail of lists) {
      expect(detail).toContain('POST /v1/containers/{container_id}/files/{file_id}/promote')
      expect(detail).not.toContain('{operations}')
    }
  })
})
