import { describe, expect, it } from 'vitest'
import { finishTemplate } from '../../infra/deploy/finish-template.ts'
import { textOf } from '../support/template/intrinsics.ts'
import { packagedService } from '../support/template/packages.ts'

/** The resource types in use whose names are not regional: they are unique in the account, or across all accounts. */
const NAMES_WITHOUT_REGION: Record<string, string> = {
  'AWS::CloudWatch::Dashboard': 'DashboardName',
  'AWS::IAM::Role': 'RoleName',
  'AWS::IAM::ManagedPolicy': 'ManagedPolicyName',
  'AWS::S3::Bucket': 'BucketName',
}

const prod = await packagedService('prod')

it('a first deployment that fails leaves nothing behind that has a name and stays', () => {
  for (const [id, { DeletionPolicy, Properties }] of Object.entries(prod.resources)) {
    const hasName = Object.keys(Properties).some((name) => /^[A-Z][A-Za-z]*Name$/.test(name))
    if (hasName) expect([undefined, 'RetainExceptOnCreate'], id).toContain(DeletionPolicy)
  }
})

it('a deployment that is rolled back can be tried again with the same code: the version it published goes with it', () => {
  const versions = prod.ofType('AWS::Lambda::Version')
  expect(versions.length).toBeGreaterThan(0)
  for (const { DeletionPolicy, UpdateReplacePolicy } of versions) {
    expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain'])
  }
})

it('a deployment to a second region meets no name of the first', () => {
  const named = Object.entries(prod.resources).flatMap(([id, { Type, Properties }]) => {
    const name = Properties[NAMES_WITHOUT_REGION[Type] ?? '']
    return name === undefined ? [] : [[id, textOf(name)]]
  })
  expect(named).toContainEqual(['Dashboard', 'container-file-promotion-prod-<AWS::Region>'])
  for (const [, name] of named) expect(name).toContain('<AWS::Region>')
})

// One without changes has the same ids, whenever it is packaged: replacements.test.ts would find another.
describe('a deployment of the API', () => {
  const ResponseTemplates = { 'application/json': '{}' }
  it.each([
    ['a route', { Type: 'AWS::ApiGateway::Method', Properties: { HttpMethod: 'GET', ResourceId: { Ref: 'Path' } } }],
    ['an answer of the gateway', { Type: 'AWS::ApiGateway::GatewayResponse', Properties: { ResponseTemplates } }],
  ])('differs from one that changes %s, which must reach the stage', (_, changed) => {
    expect(deploymentId({ Changed: changed })).not.toBe(deploymentId())
  })

  function deploymentId(changes: object = {}): string {
    const stage = { Type: 'AWS::ApiGateway::Stage', Properties: { DeploymentId: { Ref: '' }, MethodSettings: [{}] } }
    const template = {
      Resources: {
        Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { Name: 'api' } },
        Path: { Type: 'AWS::ApiGateway::Resource', Properties: { PathPart: 'v1', ParentId: {} } },
        Stage: stage,
        ApiGatewayDeployment1: {
          Type: 'AWS::ApiGateway::Deployment',
          Properties: { RestApiId: { Ref: 'Api' }, StageName: 'dev' },
        },
        ...changes,
      },
      Outputs: {},
    }
    finishTemplate(template, { stackName: 'promotion-dev', corsAllowedOrigins: [], functions: [] })
    const { Ref } = stage.Properties.DeploymentId
    expect(Object.keys(template.Resources)).toContain(Ref)
    return Ref
  }
})
