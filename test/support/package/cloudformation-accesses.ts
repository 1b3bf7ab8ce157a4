import { physicalNamePrefix, ROLE_NAME_LENGTH } from '../../../infra/deploy/physical-name.ts'
import type { Access } from './iam-accesses.ts'
import { textOf } from './intrinsics.ts'
import type { Resource } from './packages.ts'

export interface StackPlace {
  stackName: string
  account: string
  region: string
  /** Characters that CloudFormation adds to the names that it makes: 12, or 13 by older resource types. */
  randomLength?: number
}

interface Named extends StackPlace {
  resources: Readonly<Record<string, Resource>>
}

/** What types have names of CloudFormation's making in this stack, and how long these may be. */
const GENERATED: Record<string, number> = {
  'AWS::CodeDeploy::Application': 100,
  'AWS::CodeDeploy::DeploymentGroup': 100,
  'AWS::Events::Rule': 64,
  'AWS::IAM::Role': ROLE_NAME_LENGTH,
  'AWS::S3::Bucket': 63,
}
const NAMES = [
  'FunctionName',
  'TableName',
  'LogGroupName',
  'AlarmName',
  'DashboardName',
  'TopicName',
  'StateMachineName',
  'BucketName',
  'DomainName',
]

/** The name that a resource will have. */
export function nameOf(id: string, stack: Named): string {
  const { Type = '', Properties } = stack.resources[id] ?? {}
  const given = NAMES.flatMap((name) => (Properties?.[name] === undefined ? [] : [Properties[name]]))[0]
  if (given !== undefined) return textOf(given, { 'AWS::Region': stack.region })
  const maxLength = GENERATED[Type]
  if (maxLength === undefined) throw new Error(`how ${Type} is named is not known here`)
  const { randomLength = 12 } = stack
  const name =
    physicalNamePrefix({ stackName: stack.stackName, logicalId: id }, maxLength, randomLength) +
    'x'.repeat(randomLength)
  return Type === 'AWS::S3::Bucket' ? name.toLowerCase() : name
}

/** Id of the one REST API, which API Gateway makes up. */
export const REST_API = 'a1b2c3d4e5'
const TAGGING = 'TagResource UntagResource'
const VERBS = 'GET POST PUT PATCH DELETE'

/** What CloudFormation asks for with the rights of whoever deploys: to create, read, change and delete every resource. */
export function accessesOfStack(resources: Readonly<Record<string, Resource>>, place: StackPlace): Access[] {
  return Object.keys(resources).flatMap((id) => accessesOfResource(id, { ...place, resources }))
}

function accessesOfResource(id: string, stack: Named): Access[] {
  const { resources, account, region } = stack
  const { Type, Properties } = resources[id] as Resource
  const arn = (service: string, rest: string) => `arn:aws:${service}:${region}:${account}:${rest}`
  const on = (resource: string, service: string, actions: string, context: Access['context'] = {}): Access[] =>
    actions.split(' ').map((action) => ({ action: `${service}:${action}`, resource, context }))
  const name = () => nameOf(id, stack)
  const gateway = (path: string) => `arn:aws:apigateway:${region}::${path}`
  const inApi = () => on(gateway(`/restapis/${REST_API}/parts`), 'apigateway', VERBS)
  const tags = () => on(gateway('/tags/arn'), 'apigateway', 'GET PUT DELETE')
  const refOf = (value: { Ref?: string; 'Fn::GetAtt'?: [string, string] }) =>
    value.Ref ?? value['Fn::GetAtt']?.[0] ?? ''
  const roleArn = (role: string) =>
    `arn:aws:iam::${account}:role${resources[role]?.Properties.Path ?? '/'}${nameOf(role, stack)}`
  const boundaryOf = (role: string): Access['context'] => {
    const boundary = resources[role]?.Properties.PermissionsBoundary
    return boundary === undefined ? {} : { 'iam:PermissionsBoundary': boundary }
  }
  const pass = (value: object, service: string) =>
    on(roleArn(refOf(value)), 'iam', 'PassRole', { 'iam:PassedToService': `${service}.amazonaws.com` })
  const functionOf = (value: object) => {
    const referred = refOf(value)
    const { Type: itsType, Properties: its } = resources[referred] as Resource
    return arn(
      'lambda',
      `function:${nameOf(itsType === 'AWS::Lambda::Alias' ? its.FunctionName.Ref : referred, stack)}`,
    )
  }
  switch (Type) {
    case 'AWS::ApiGateway::Account':
      return [
        ...on(gateway('/account'), 'apigateway', 'GET PATCH'),
        ...pass(Properties.CloudWatchRoleArn, 'apigateway'),
      ]
    case 'AWS::ApiGateway::RestApi':
      return [
        ...on(gateway('/restapis'), 'apigateway', 'POST'),
        ...on(gateway(`/restapis/${REST_API}`), 'apigateway', 'GET PUT PATCH DELETE'),
        ...tags(),
      ]
    case 'AWS::ApiGateway::Deployment':
    case 'AWS::ApiGateway::GatewayResponse':
    case 'AWS::ApiGateway::Method':
    case 'AWS::ApiGateway::Resource':
      return inApi()
    case 'AWS::ApiGateway::Stage':
      return [
        ...inApi(),
        ...tags(),
        // For access logs.
        ...on(
          '*',
          'logs',
          'CreateLogDelivery DeleteLogDelivery DescribeLogGroups DescribeResourcePolicies GetLogDelivery ListLogDeliveries PutResourcePolicy UpdateLogDelivery',
        ),
      ]
    case 'AWS::ApiGateway::DomainName':
      return [
        ...on(gateway('/domainnames'), 'apigateway', 'POST'),
        ...on(gateway(`/domainnames/${name()}`), 'apigateway', 'GET PATCH DELETE'),
        ...tags(),
        // Once in an account.
        ...on(
          `arn:aws:iam::${account}:role/aws-service-role/ops.apigateway.amazonaws.com/AWSServiceRoleForAPIGateway`,
          'iam',
          'CreateServiceLinkedRole',
          { 'iam:AWSServiceName': 'ops.apigateway.amazonaws.com' },
        ),
      ]
    case 'AWS::ApiGateway::BasePathMapping': {
      const path = `/domainnames/${nameOf(refOf(Properties.DomainName), stack)}/basepathmappings`
      return on(gateway(path), 'apigateway', VERBS)
    }
    case 'AWS::CloudWatch::Alarm':
      return [
        ...on(
          arn('cloudwatch', `alarm:${name()}`),
          'cloudwatch',
          `PutMetricAlarm DeleteAlarms ListTagsForResource ${TAGGING}`,
        ),
        ...on('*', 'cloudwatch', 'DescribeAlarms'),
      ]
    case 'AWS::CloudWatch::Dashboard':
      return on(
        `arn:aws:cloudwatch::${account}:dashboard/${name()}`,
        'cloudwatch',
        'PutDashboard DeleteDashboards GetDashboard',
      )
    case 'AWS::CodeDeploy::Application':
      return on(
        arn('codedeploy', `application:${name()}`),
        'codedeploy',
        `CreateApplication DeleteApplication GetApplication ListTagsForResource ${TAGGING}`,
      )
    case 'AWS::CodeDeploy::DeploymentGroup':
      return [
        ...on(
          arn('codedeploy', `deploymentgroup:${nameOf(refOf(Properties.ApplicationName), stack)}/${name()}`),
          'codedeploy',
          'CreateDeploymentGroup DeleteDeploymentGroup GetDeploymentGroup UpdateDeploymentGroup',
        ),
        ...pass(Properties.ServiceRoleArn, 'codedeploy'),
      ]
    case 'AWS::DynamoDB::Table':
      return on(
        arn('dynamodb', `table/${name()}`),
        'dynamodb',
        `CreateTable DeleteTable DescribeTable UpdateTable DescribeContinuousBackups UpdateContinuousBackups DescribeTimeToLive UpdateTimeToLive ListTagsOfResource ${TAGGING}`,
      )
    case 'AWS::Events::Rule': {
      const roles: object[] = Properties.Targets.flatMap(({ RoleArn }: { RoleArn?: object }) => RoleArn ?? [])
      return [
        ...on(
          arn('events', `rule/${name()}`),
          'events',
          `PutRule DeleteRule DescribeRule PutTargets RemoveTargets ListTargetsByRule ListTagsForResource ${TAGGING}`,
        ),
        ...roles.flatMap((role) => pass(role, 'events')),
      ]
    }
    case 'AWS::IAM::Role': {
      const managed: object[] = Properties.ManagedPolicyArns ?? []
      return [
        ...on(roleArn(id), 'iam', 'CreateRole PutRolePolicy', boundaryOf(id)),
        ...(Properties.PermissionsBoundary ? on(roleArn(id), 'iam', 'PutRolePermissionsBoundary', boundaryOf(id)) : []),
        ...on(
          roleArn(id),
          'iam',
          'DeleteRole GetRole DeleteRolePolicy GetRolePolicy ListRolePolicies ListAttachedRolePolicies TagRole UntagRole',
        ),
        // By the tags of the stack.
        ...on(roleArn(id), 'iam', 'UpdateAssumeRolePolicy', { 'aws:ResourceTag/service': 'container-file-promotion' }),
        ...managed.flatMap((policy) => [
          ...on(roleArn(id), 'iam', 'AttachRolePolicy', {
            ...boundaryOf(id),
            'iam:PolicyARN': textOf(policy, { 'AWS::Partition': 'aws' }),
          }),
          ...on(roleArn(id), 'iam', 'DetachRolePolicy'),
        ]),
      ]
    }
    case 'AWS::IAM::RolePolicy': {
      const role = refOf(Properties.RoleName)
      return [
        ...on(roleArn(role), 'iam', 'PutRolePolicy', boundaryOf(role)),
        ...on(roleArn(role), 'iam', 'DeleteRolePolicy GetRolePolicy'),
      ]
    }
    case 'AWS::Lambda::Alias': {
      const { ApplicationName, DeploymentGroupName } = (
        (resources[id] as Resource).UpdatePolicy as {
          CodeDeployLambdaAliasUpdate: { ApplicationName: object; DeploymentGroupName: object }
        }
      ).CodeDeployLambdaAliasUpdate
      const [application, group] = [ApplicationName, DeploymentGroupName].map((each) => nameOf(refOf(each), stack))
      return [
        ...on(functionOf(Properties.FunctionName), 'lambda', 'CreateAlias UpdateAlias DeleteAlias GetAlias'),
        // What CodeDeploy is asked for when the alias gets another version.
        ...on(
          arn('codedeploy', `deploymentgroup:${application}/${group}`),
          'codedeploy',
          'CreateDeployment GetDeployment StopDeployment',
        ),
        ...on(
          arn('codedeploy', `application:${application}`),
          'codedeploy',
          'RegisterApplicationRevision GetApplicationRevision',
        ),
        ...on(
          arn('codedeploy', 'deploymentconfig:CodeDeployDefault.LambdaAllAtOnce'),
          'codedeploy',
          'GetDeploymentConfig',
        ),
      ]
    }
    case 'AWS::Lambda::EventInvokeConfig':
      return on(
        functionOf(Properties.FunctionName),
        'lambda',
        'PutFunctionEventInvokeConfig UpdateFunctionEventInvokeConfig DeleteFunctionEventInvokeConfig GetFunctionEventInvokeConfig',
      )
    case 'AWS::Lambda::Function':
      return [
        ...on(
          arn('lambda', `function:${name()}`),
          'lambda',
          `CreateFunction DeleteFunction GetFunction GetFunctionConfiguration UpdateFunctionCode UpdateFunctionConfiguration PutFunctionConcurrency DeleteFunctionConcurrency ListTags ${TAGGING}`,
        ),
        ...pass(Properties.Role, 'lambda'),
      ]
    case 'AWS::Lambda::Permission':
      return on(functionOf(Properties.FunctionName), 'lambda', 'AddPermission RemovePermission GetPolicy')
    case 'AWS::Lambda::Version':
      return on(functionOf(Properties.FunctionName), 'lambda', 'PublishVersion ListVersionsByFunction DeleteFunction')
    case 'AWS::Logs::LogGroup':
      return [
        ...on(
          arn('logs', `log-group:${name()}`),
          'logs',
          `CreateLogGroup DeleteLogGroup PutRetentionPolicy DeleteRetentionPolicy AssociateKmsKey DisassociateKmsKey ListTagsForResource ${TAGGING}`,
        ),
        ...on('*', 'logs', 'DescribeLogGroups'),
      ]
    case 'AWS::Route53::RecordSet':
      return [
        ...on(
          `arn:aws:route53:::hostedzone/${Properties.HostedZoneId}`,
          'route53',
          'ChangeResourceRecordSets GetHostedZone ListResourceRecordSets',
        ),
        ...on('arn:aws:route53:::change/C123', 'route53', 'GetChange'),
      ]
    case 'AWS::S3::Bucket':
    case 'AWS::S3::BucketPolicy': {
      const bucket = Type === 'AWS::S3::Bucket' ? name() : nameOf(refOf(Properties.Bucket), stack)
      const actions =
        Type === 'AWS::S3::BucketPolicy'
          ? 'PutBucketPolicy GetBucketPolicy DeleteBucketPolicy'
          : 'CreateBucket DeleteBucket ListBucket GetBucketLocation GetEncryptionConfiguration PutEncryptionConfiguration GetLifecycleConfiguration PutLifecycleConfiguration GetBucketOwnershipControls PutBucketOwnershipControls GetBucketPublicAccessBlock PutBucketPublicAccessBlock GetBucketTagging PutBucketTagging GetBucketVersioning PutBucketVersioning'
      return on(`arn:aws:s3:::${bucket}`, 's3', actions, { 'aws:ResourceAccount': account })
    }
    case 'AWS::SNS::Subscription': {
      const { TopicArn } = Properties
      const topic = typeof TopicArn === 'string' ? TopicArn : arn('sns', nameOf(refOf(TopicArn), stack))
      return [
        ...on(topic, 'sns', 'Subscribe ListSubscriptionsByTopic'),
        ...on(`${topic}:0aaaaaaa-1111`, 'sns', 'Unsubscribe GetSubscriptionAttributes'),
      ]
    }
    case 'AWS::SNS::Topic':
      return on(
        arn('sns', name()),
        'sns',
        `CreateTopic DeleteTopic GetTopicAttributes SetTopicAttributes ListTagsForResource ${TAGGING}`,
      )
    case 'AWS::SNS::TopicPolicy':
      return on(arn('sns', nameOf(refOf(Properties.Topics[0]), stack)), 'sns', 'GetTopicAttributes SetTopicAttributes')
    case 'AWS::StepFunctions::StateMachine':
      return [
        ...on(
          arn('states', `stateMachine:${name()}`),
          'states',
          `CreateStateMachine DeleteStateMachine DescribeStateMachine UpdateStateMachine ListTagsForResource ${TAGGING}`,
        ),
        ...pass(Properties.RoleArn, 'states'),
      ]
    case 'AWS::WAFv2::WebACLAssociation':
      return [
        ...on(Properties.WebACLArn, 'wafv2', 'AssociateWebACL DisassociateWebACL GetWebACL GetWebACLForResource'),
        ...on(gateway(`/restapis/${REST_API}/stages/prod`), 'wafv2', 'AssociateWebACL DisassociateWebACL'),
        ...on(gateway(`/restapis/${REST_API}/stages/prod`), 'apigateway', 'SetWebACL'),
      ]
    default:
      throw new Error(`${Type} is new: say in test/support/package/cloudformation-accesses.ts what it takes`)
  }
}

/** What the framework asks for itself, and what the plugin asks for before and after a deployment. */
export function accessesOfFramework(resources: Readonly<Record<string, Resource>>, place: StackPlace): Access[] {
  const { stackName, account, region } = place
  const stack = `arn:aws:cloudformation:${region}:${account}:stack/${stackName}/0aaaaaaa-1111`
  const bucket = `arn:aws:s3:::${nameOf('ServerlessDeploymentBucket', { ...place, resources })}`
  const context = { 'aws:ResourceAccount': account }
  const on = (resource: string, service: string, actions: string, its: Access['context'] = {}): Access[] =>
    actions.split(' ').map((action) => ({ action: `${service}:${action}`, resource, context: its }))
  return [
    ...on(
      stack,
      'cloudformation',
      'CreateChangeSet DeleteChangeSet DescribeChangeSet ExecuteChangeSet DeleteStack DescribeStacks DescribeStackEvents DescribeStackResource ListStackResources GetTemplate UpdateStack UpdateTerminationProtection',
    ),
    ...on('*', 'cloudformation', 'ValidateTemplate'),
    ...on('*', 'lambda', 'GetAccountSettings'),
    ...on('*', 'sts', 'GetCallerIdentity'),
    ...on(`${bucket}/serverless/a.zip`, 's3', 'PutObject GetObject DeleteObject DeleteObjectVersion', context),
    ...on(bucket, 's3', 'ListBucket ListBucketVersions', context),
    ...on(`arn:aws:apigateway:${region}::/account`, 'apigateway', 'GET'),
    ...on(
      `arn:aws:lambda:${region}:${account}:function:${stackName}-promote-container-file`,
      'lambda',
      'GetFunctionConcurrency',
    ),
    ...on(`arn:aws:dynamodb:${region}:${account}:table/${stackName}-keys`, 'dynamodb', 'DescribeTable UpdateTable'),
  ]
}
