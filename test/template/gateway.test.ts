import { describe, expect, it } from 'vitest'
import { textOf } from '../support/template/intrinsics.ts'
import { operationsOf } from '../support/template/packaged-gateway.ts'
import { EXISTING, type Packaged, packagedServices, THRESHOLDS } from '../support/template/packages.ts'

const [dev, prod, existing] = await packagedServices('dev', 'prod', 'existing')

describe('the API', () => {
  it('has a regional REST API without an authorizer of its own', () => {
    expect(dev.resource('ApiGatewayRestApi').Properties.EndpointConfiguration).toEqual({ Types: ['REGIONAL'] })
    for (const method of dev.propertiesOf('AWS::ApiGateway::Method'))
      expect(method).toMatchObject({ AuthorizationType: 'NONE', ApiKeyRequired: false })
  })

  it('takes TLS 1.2 and newer, with forward secrecy, at its own host', () => {
    const [SecurityPolicy, EndpointAccessMode] = ['SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09', 'BASIC']
    for (const service of [dev, prod, existing]) {
      expect(service.resource('ApiGatewayRestApi').Properties).toMatchObject({ SecurityPolicy, EndpointAccessMode })
    }
  })

  it('deploys what the gateway answers itself together with the API', () => {
    const [deployment] = dev.ofType('AWS::ApiGateway::Deployment')
    const waitsFor = [...dev.idsOfType('AWS::ApiGateway::GatewayResponse'), ...dev.idsOfType('AWS::ApiGateway::Method')]
    expect(new Set(deployment?.DependsOn)).toEqual(new Set(waitsFor))
  })
})

describe('the stage', () => {
  it('is the one of the template, at the deployment of this package', () => {
    const [Ref = ''] = dev.idsOfType('AWS::ApiGateway::Deployment')
    expect(dev.propertiesOf('AWS::ApiGateway::Stage')).toMatchObject([{ StageName: 'dev', DeploymentId: { Ref } }])
    expect(dev.resource(Ref).Properties).not.toHaveProperty('StageName')
  })

  it('throttles the stage and each method, by parameters', () => {
    const methodsOf = (service: Packaged) =>
      operationsOf(service).map(({ HttpMethod, path }) => ({
        HttpMethod,
        ResourcePath: `/${path.replaceAll('/', '~1')}`,
      }))
    expect(methodsOf(dev)).toContainEqual({ HttpMethod: 'DELETE', ResourcePath: '/~1v1~1files~1{document_id}' })
    expect(methodsOf(prod)).toContainEqual({ HttpMethod: 'GET', ResourcePath: '/~1l~1{token}' })
    const limited = (service: Packaged) => [{ HttpMethod: '*', ResourcePath: '/*' }, ...methodsOf(service)]
    const expectLimits = (service: Packaged, ThrottlingRateLimit: string, ThrottlingBurstLimit: string) =>
      expect(service.resource('GatewayStage').Properties.MethodSettings).toMatchObject(
        limited(service).map((each) => ({ ...each, ThrottlingRateLimit, ThrottlingBurstLimit })),
      )
    expectLimits(dev, '500', '1000')
    expectLimits(prod, THRESHOLDS.throttleRatePerSecond, String(2 * Number(THRESHOLDS.throttleRatePerSecond)))
  })

  it('writes access logs in JSON, without any header but the user agent, kept for a while', () => {
    const { DestinationArn, Format } = prod.resource('GatewayStage').Properties.AccessLogSetting
    expect(DestinationArn).toEqual({ 'Fn::GetAtt': ['GatewayLogGroup', 'Arn'] })
    expect(prod.resource('GatewayLogGroup').Properties).toMatchObject({ RetentionInDays: '90' })
    expect(JSON.parse(Format)).toMatchObject({ status: '$context.status', userAgent: '$context.identity.userAgent' })
    expect(Format).not.toMatch(/authorization|\$input|header|apiKey|\$context\.path\b/i)
  })

  it('writes no execution logs, which would hold keys', () => {
    for (const settings of dev.resource('GatewayStage').Properties.MethodSettings) {
      expect(settings).toMatchObject({ LoggingLevel: 'OFF', DataTraceEnabled: false })
    }
  })

  it('waits for the role that writes logs where the stack makes it; that role stays when the stack goes', () => {
    expect(dev.resource('GatewayStage').DependsOn).toEqual(['GatewayAccount'])
    for (const id of ['GatewayAccount', 'GatewayLogRole']) expect(dev.resource(id).DeletionPolicy).toBe('Retain')
    expect(existing.resource('GatewayStage').DependsOn).toEqual(['LinksAreNotTraced'])
    for (const { resources } of [prod, existing]) {
      expect(Object.keys(resources)).not.toEqual(expect.arrayContaining(['GatewayLogRole']))
      expect(Object.values(resources).map(({ Type }) => Type)).not.toContain('AWS::ApiGateway::Account')
    }
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
  it('is the only address where that is asked for', () => {
    const endpoint = (service: Packaged) => service.resource('ApiGatewayRestApi').Properties.DisableExecuteApiEndpoint
    expect([endpoint(dev), endpoint(existing)]).toEqual([undefined, true])
  })

  it('is there only when it is given', () => {
    expect(dev.idsOfType('AWS::ApiGateway::DomainName')).toEqual([])
    expect(dev.idsOfType('AWS::Route53::RecordSet')).toEqual([])
    expect(textOf(dev.outputs.BaseUrl?.Value)).toBe(
      'https://<ApiGatewayRestApi>.execute-api.<AWS::Region>.<AWS::URLSuffix>/<GatewayStage>/v1',
    )
  })

  it('takes TLS 1.2 and newer, and is the address that the stack tells', () => {
    expect(existing.resource('CustomDomain').Properties.SecurityPolicy).toBe('TLS_1_2')
    expect(existing.outputs.BaseUrl?.Value).toBe('https://files.example.com/v1')
  })
})
