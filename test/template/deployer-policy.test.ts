import { describe, expect, it } from 'vitest'
import { accessesOfStack } from '../support/template/cloudformation-accesses.ts'
import { nameOf, physicalNamePrefix } from '../support/template/cloudformation-names.ts'
import type { Access } from '../support/template/iam-accesses.ts'
import { isAllowed, unusedRights } from '../support/template/iam-policies.ts'
import { packagedServices, type Resource, VARIANTS, type Variant } from '../support/template/packages.ts'
import { ACCOUNT, statementsOfPolicies } from '../support/template/policy-files.ts'

const DEPLOYER = statementsOfPolicies(['deployer', 'deployer-2'])
const BOUNDARY = `arn:aws:iam::${ACCOUNT}:policy/container-file-promotion-boundary`
/** Names of every length that is allowed. */
const STAGES = Array.from({ length: 16 }, (_, index) => 'abcdefghijklmnop'.slice(0, index + 1))
const PLACE = { stackName: 'container-file-promotion-prod', account: ACCOUNT, region: 'us-east-1' }
const ROLE = `arn:aws:iam::${ACCOUNT}:role/container-file-promotion-prod-PromoteContainerFileRole-x`

/** Each variant's resources, as a stage of any name would have them, with the boundary on every role. */
const services = await packagedServices(...(Object.keys(VARIANTS) as Variant[]))
const variants = services.map(({ resources }) => resources)

function resourcesOf(stage: string): Record<string, Resource>[] {
  return variants.map((resources) => {
    const written = JSON.stringify(resources).replace(/(container-file-promotion-)(dev|prod|e2e)\b/g, `$1${stage}`)
    const named: Record<string, Resource> = JSON.parse(written)
    for (const { Type, Properties } of Object.values(named)) {
      if (Type === 'AWS::IAM::Role') Properties.PermissionsBoundary = BOUNDARY
    }
    return named
  })
}

const accessesOf = (stage: string, randomLength: number): Access[] => {
  const place = { ...PLACE, stackName: `container-file-promotion-${stage}`, randomLength }
  return resourcesOf(stage).flatMap((resources) => accessesOfStack(resources, place))
}

describe('names that CloudFormation makes', () => {
  // cspell:disable -- seen in accounts: serverless#2791, and KensioSoftware/yulin#1113.
  const LONG = 'thisisareallylongservicenametotestthebucket'
  const CHINESE = 'ChineseboostAnalyticsStack'
  const ROLE_ID = 'RainlyticsSummariesJobFunctionRole'
  const LOGS_ID = 'RainlyticsSummariesJobLogs1C6CB09C'
  it.each([
    [LONG, 'serverlessdeploymentbucket', 63, 13, 'thisisareallylongservice-serverlessdeploymentbuck-'],
    [CHINESE, ROLE_ID, 64, 12, 'ChineseboostAnalyticsStac-RainlyticsSummariesJobFun-'],
    [CHINESE, LOGS_ID, 512, 12, `${CHINESE}-${LOGS_ID}-`],
  ])(
    'of %s and %s are cut to %i characters, as those that were seen',
    (stackName, logicalId, maxLength, random, name) => {
      expect(physicalNamePrefix(stackName, logicalId, maxLength, random)).toBe(name)
    },
  )
  // cspell:enable

  it.each(STAGES)('have their length, and differ, in the stage %s', (stage) => {
    const place = { ...PLACE, stackName: `container-file-promotion-${stage}` }
    for (const resources of resourcesOf(stage)) {
      const roles = Object.keys(resources).filter((id) => resources[id]?.Type === 'AWS::IAM::Role')
      const names = roles.map((id) => nameOf(id, { ...place, resources }))
      expect(new Set(names).size).toBe(roles.length)
      for (const name of names) expect(name.length).toBeLessThanOrEqual(64)
    }
  })
})

// test/machine/mock-account.test.ts shows what the framework and the plugin ask for, and that no right is too many, but for
// those that its stage has no use for.
describe('the rights to deploy', () => {
  it.each(STAGES)('are enough for every resource of the stage %s', (stage) => {
    for (const randomLength of [12, 13]) {
      const refused = accessesOf(stage, randomLength).filter((access) => !isAllowed(DEPLOYER, access))
      expect(refused).toEqual([])
    }
  })

  it('allow no action on what a stage may have that no resource needs', () => {
    const unused = unusedRights(DEPLOYER, accessesOf('prod', 12))
    expect(unused.filter((right) => right.startsWith('OnlyWith'))).toEqual([])
  })

  it.each(['CreateRole', 'PutRolePolicy', 'PutRolePermissionsBoundary'])(
    'make or change no role without the boundary, by iam:%s',
    (name) => {
      const by = (context: Access['context'] = {}) =>
        isAllowed(DEPLOYER, { action: `iam:${name}`, resource: ROLE, context })
      expect(by()).toBe(false)
      expect(by({ 'iam:PermissionsBoundary': 'arn:aws:iam::aws:policy/AdministratorAccess' })).toBe(false)
      expect(by({ 'iam:PermissionsBoundary': BOUNDARY })).toBe(true)
    },
  )

  const bounded = { 'iam:PermissionsBoundary': BOUNDARY }
  const admin = { ...bounded, 'iam:PolicyARN': 'arn:aws:iam::aws:policy/AdministratorAccess' }
  const own = { 'aws:ResourceAccount': ACCOUNT }
  const OTHER_ROLE = ROLE.replace('role/', 'role/x-')
  const OF_GATEWAY = `arn:aws:iam::${ACCOUNT}:role/aws-service-role/ops.apigateway.amazonaws.com/x`
  const OBJECT = 'arn:aws:s3:::container-file-promotion-prod-documentsbucket-x/documents/a'
  const TABLE = `arn:aws:dynamodb:us-east-1:${ACCOUNT}:table/container-file-promotion-prod-keys`
  const OTHER_API = 'arn:aws:apigateway:us-east-1::/restapis/z9y8x7w6v5'
  it.each<[what: string, action: string, resource: string, context?: Record<string, string>]>([
    ['taking the boundary off', 'iam:DeleteRolePermissionsBoundary', ROLE, bounded],
    ['changing the boundary', 'iam:CreatePolicyVersion', BOUNDARY],
    ['a role of another name', 'iam:CreateRole', OTHER_ROLE, bounded],
    ['trusting others in a role without our tag', 'iam:UpdateAssumeRolePolicy', ROLE],
    ['any other managed policy', 'iam:AttachRolePolicy', ROLE, admin],
    ['passing a role to others', 'iam:PassRole', ROLE, { 'iam:PassedToService': 'ec2.amazonaws.com' }],
    ['roles of others', 'iam:CreateServiceLinkedRole', OF_GATEWAY, { 'iam:AWSServiceName': 'ecs.amazonaws.com' }],
    ['what is in documents', 's3:GetObject', OBJECT, own],
    ['what is in tables', 'dynamodb:GetItem', TABLE],
    ['another API', 'apigateway:DELETE', OTHER_API],
    ['another hosted zone', 'route53:ChangeResourceRecordSets', 'arn:aws:route53:::hostedzone/Z9'],
  ])('refuse %s', (_what, action, resource, context = {}) => {
    expect(isAllowed(DEPLOYER, { action, resource, context })).toBe(false)
  })

  it('name what belongs to the service, where AWS lets it be named', () => {
    const anywhere = DEPLOYER.filter(({ resources }) => resources.includes('*')).map(({ Sid }) => Sid)
    expect(anywhere).toEqual([
      'WithoutAResource',
      'OnlyWithEventsMapping',
      'OnlyWithLinksAskedForWithoutAName',
      'AccessLogs',
      'AlarmsAreAskedForWithoutAName',
    ])
    for (const { actions } of DEPLOYER) for (const action of actions) expect(action).not.toContain('*')
  })
})
