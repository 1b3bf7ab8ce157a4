import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { PACKAGING_TIMEOUT_MS, packagedService, VARIANTS, type Variant } from '../support/package/packages.ts'

interface Statement {
  Sid: string
  Action: string[]
  Resource: string | string[]
  Condition?: object
}

const { Statement }: { Statement: Statement[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../docs/policies/deployer.json'), 'utf8'),
)
const GRANTED = Statement.flatMap(({ Action }) => Action)
const TAGGING = ['TagResource', 'UntagResource']
const of = (service: string, text: string, more: string[] = []) =>
  [...text.split(' '), ...more].map((name) => `${service}:${name}`)
const API = of('apigateway', 'GET POST PUT PATCH DELETE')

/** docs/operations.md#roll-back, of a deployment that still runs, or that could not be taken back. */
const WAY_BACK = of('cloudformation', 'CancelUpdateStack ContinueUpdateRollback')

/** What CloudFormation needs of who deploys, by resource type: to create, read, update and delete it. */
const NEEDED: Record<string, string[]> = {
  'AWS::ApiGateway::Account': [...API, ...of('iam', 'PassRole')],
  'AWS::ApiGateway::BasePathMapping': API,
  'AWS::ApiGateway::Deployment': API,
  'AWS::ApiGateway::DomainName': API,
  'AWS::ApiGateway::GatewayResponse': API,
  'AWS::ApiGateway::Method': API,
  'AWS::ApiGateway::Resource': API,
  'AWS::ApiGateway::RestApi': API,
  'AWS::ApiGateway::Stage': [
    ...API,
    ...of(
      'logs',
      'CreateLogDelivery DeleteLogDelivery DescribeLogGroups DescribeResourcePolicies GetLogDelivery ListLogDeliveries PutResourcePolicy UpdateLogDelivery',
    ),
  ],
  'AWS::CloudWatch::Alarm': of('cloudwatch', 'PutMetricAlarm DeleteAlarms DescribeAlarms ListTagsForResource', TAGGING),
  'AWS::CloudWatch::Dashboard': of('cloudwatch', 'PutDashboard DeleteDashboards GetDashboard'),
  'AWS::CodeDeploy::Application': of(
    'codedeploy',
    'CreateApplication DeleteApplication GetApplication ListTagsForResource',
    TAGGING,
  ),
  'AWS::CodeDeploy::DeploymentGroup': [
    ...of('codedeploy', 'CreateDeploymentGroup DeleteDeploymentGroup GetDeploymentGroup UpdateDeploymentGroup'),
    ...of('iam', 'PassRole'),
  ],
  'AWS::DynamoDB::Table': of(
    'dynamodb',
    'CreateTable DeleteTable DescribeTable UpdateTable DescribeContinuousBackups UpdateContinuousBackups DescribeTimeToLive UpdateTimeToLive ListTagsOfResource',
    TAGGING,
  ),
  'AWS::Events::Rule': of(
    'events',
    'PutRule DeleteRule DescribeRule PutTargets RemoveTargets ListTargetsByRule ListTagsForResource',
    TAGGING,
  ),
  'AWS::StepFunctions::StateMachine': [
    ...of(
      'states',
      'CreateStateMachine DeleteStateMachine DescribeStateMachine UpdateStateMachine ListTagsForResource',
      TAGGING,
    ),
    ...of('iam', 'PassRole'),
  ],
  'AWS::IAM::Role': of(
    'iam',
    'CreateRole DeleteRole GetRole PutRolePolicy DeleteRolePolicy GetRolePolicy ListRolePolicies ListAttachedRolePolicies AttachRolePolicy DetachRolePolicy UpdateAssumeRolePolicy PutRolePermissionsBoundary DeleteRolePermissionsBoundary TagRole UntagRole',
  ),
  'AWS::IAM::RolePolicy': of('iam', 'PutRolePolicy DeleteRolePolicy GetRolePolicy'),
  // What CodeDeploy is asked for when the alias gets another version.
  'AWS::Lambda::Alias': [
    ...of('lambda', 'CreateAlias UpdateAlias DeleteAlias GetAlias'),
    ...of(
      'codedeploy',
      'CreateDeployment GetDeployment GetDeploymentConfig StopDeployment RegisterApplicationRevision GetApplicationRevision',
    ),
  ],
  'AWS::Lambda::EventInvokeConfig': of(
    'lambda',
    'PutFunctionEventInvokeConfig UpdateFunctionEventInvokeConfig DeleteFunctionEventInvokeConfig GetFunctionEventInvokeConfig',
  ),
  'AWS::Lambda::Function': [
    ...of(
      'lambda',
      'CreateFunction DeleteFunction GetFunction GetFunctionConfiguration UpdateFunctionCode UpdateFunctionConfiguration PutFunctionConcurrency DeleteFunctionConcurrency ListTags',
      TAGGING,
    ),
    ...of('iam', 'PassRole'),
  ],
  'AWS::Lambda::Permission': of('lambda', 'AddPermission RemovePermission GetPolicy'),
  'AWS::Lambda::Version': of('lambda', 'PublishVersion ListVersionsByFunction DeleteFunction'),
  'AWS::Logs::LogGroup': of(
    'logs',
    'CreateLogGroup DeleteLogGroup DescribeLogGroups PutRetentionPolicy DeleteRetentionPolicy AssociateKmsKey DisassociateKmsKey ListTagsForResource',
    TAGGING,
  ),
  'AWS::Logs::QueryDefinition': of('logs', 'PutQueryDefinition DeleteQueryDefinition DescribeQueryDefinitions'),
  'AWS::Route53::RecordSet': of('route53', 'ChangeResourceRecordSets GetChange GetHostedZone ListResourceRecordSets'),
  'AWS::S3::Bucket': of(
    's3',
    'CreateBucket DeleteBucket ListBucket GetBucketLocation GetEncryptionConfiguration PutEncryptionConfiguration GetLifecycleConfiguration PutLifecycleConfiguration GetBucketOwnershipControls PutBucketOwnershipControls GetBucketPublicAccessBlock PutBucketPublicAccessBlock GetBucketTagging PutBucketTagging GetBucketVersioning PutBucketVersioning',
  ),
  'AWS::S3::BucketPolicy': of('s3', 'PutBucketPolicy GetBucketPolicy DeleteBucketPolicy'),
  'AWS::SNS::Subscription': of('sns', 'Subscribe Unsubscribe GetSubscriptionAttributes ListSubscriptionsByTopic'),
  'AWS::SNS::Topic': of(
    'sns',
    'CreateTopic DeleteTopic GetTopicAttributes SetTopicAttributes ListTagsForResource',
    TAGGING,
  ),
  'AWS::WAFv2::WebACLAssociation': [
    ...of('wafv2', 'AssociateWebACL DisassociateWebACL GetWebACL GetWebACLForResource'),
    ...of('apigateway', 'SetWebACL'),
  ],
}
/** The framework itself, and what the plugin does before and after a deployment. */
const FRAMEWORK = [
  ...of(
    'cloudformation',
    'CreateChangeSet DeleteChangeSet DescribeChangeSet ExecuteChangeSet DeleteStack DescribeStacks DescribeStackEvents DescribeStackResource ListStackResources GetTemplate UpdateTerminationProtection ValidateTemplate',
  ),
  ...of('s3', 'PutObject GetObject DeleteObject DeleteObjectVersion ListBucket ListBucketVersions'),
  ...of('sts', 'GetCallerIdentity'),
]

let types: Set<string>
beforeAll(async () => {
  const services = await Promise.all((Object.keys(VARIANTS) as Variant[]).map(packagedService))
  types = new Set(services.flatMap(({ resources }) => Object.values(resources).map(({ Type }) => Type)))
}, PACKAGING_TIMEOUT_MS)

describe('docs/policies/deployer.json', () => {
  it('allows what each resource type of the packaged templates takes', () => {
    for (const type of types) {
      expect(NEEDED, 'a new type: say what it takes').toHaveProperty([type])
      expect(GRANTED, type).toEqual(expect.arrayContaining(NEEDED[type] ?? []))
    }
    expect(GRANTED).toEqual(expect.arrayContaining([...FRAMEWORK, ...WAY_BACK]))
  })

  it('allows nothing else', () => {
    const needed = new Set([...FRAMEWORK, ...WAY_BACK, ...[...types].flatMap((type) => NEEDED[type] ?? [])])
    expect(GRANTED.filter((action) => !needed.has(action))).toEqual([])
  })

  it('names what belongs to the service, where AWS lets it be named', () => {
    const anywhere = Statement.filter(({ Resource }) => [Resource].flat().includes('*')).map(({ Sid }) => Sid)
    expect(anywhere).toEqual(['TemplateCheck', 'AccessLogs', 'AlarmsAreAskedForWithoutAName', 'WhoAmI'])
    for (const { Action } of Statement) for (const action of Action) expect(action).not.toContain('*')
  })
})
