import { type Asking, accessesIn, askingFor, type Row } from './cloudformation-asking.ts'
import type { StackPlace } from './cloudformation-names.ts'
import type { Access } from './iam-accesses.ts'
import { textOf } from './intrinsics.ts'
import type { Resource } from './packages.ts'

const TAGGING = 'TagResource UntagResource'
const TAGS = `ListTagsForResource ${TAGGING}`
const ALL_VERBS = 'apigateway:GET POST PUT PATCH DELETE'
/** Id of the one REST API, which API Gateway makes up. */
const REST_API = 'a1b2c3d4e5'

/** What CloudFormation asks for with the rights of whoever deploys: to create, read, change and delete every resource. */
export function accessesOfStack(resources: Readonly<Record<string, Resource>>, place: StackPlace): Access[] {
  return Object.entries(resources).flatMap(([id, { Type }]) => {
    const needs = NEEDS[Type]
    if (needs === undefined) throw new Error(`${Type} is new: say in test/support/template what it takes`)
    return accessesIn(needs(askingFor(id, { ...place, resources })))
  })
}

const inBucket =
  (actions: string, nameIn: (asking: Asking) => string) =>
  (asking: Asking): Row[] => [[`arn:aws:s3:::${nameIn(asking)}`, actions, { 'aws:ResourceAccount': asking.account }]]
const inApi = ({ gateway }: Asking): Row => [gateway(`/restapis/${REST_API}/parts`), ALL_VERBS]
const tagsInApi = ({ gateway }: Asking): Row => [gateway('/tags/arn'), 'apigateway:GET PUT DELETE']

const NEEDS: Readonly<Record<string, (asking: Asking) => Row[]>> = {
  'AWS::ApiGateway::Account': ({ Properties, gateway, pass }) => [
    [gateway('/account'), 'apigateway:GET PATCH'],
    pass(Properties.CloudWatchRoleArn, 'apigateway'),
  ],
  'AWS::ApiGateway::BasePathMapping': ({ Properties, gateway, nameOfRef }) => [
    [gateway(`/domainnames/${nameOfRef(Properties.DomainName)}/basepathmappings`), ALL_VERBS],
  ],
  'AWS::ApiGateway::Deployment': (asking) => [inApi(asking)],
  'AWS::ApiGateway::DomainName': (asking) => [
    [asking.gateway('/domainnames'), 'apigateway:POST'],
    [asking.gateway(`/domainnames/${asking.name()}`), 'apigateway:GET PATCH DELETE'],
    tagsInApi(asking),
    // Once in an account.
    [
      `arn:aws:iam::${asking.account}:role/aws-service-role/ops.apigateway.amazonaws.com/AWSServiceRoleForAPIGateway`,
      'iam:CreateServiceLinkedRole',
      { 'iam:AWSServiceName': 'ops.apigateway.amazonaws.com' },
    ],
  ],
  'AWS::ApiGateway::GatewayResponse': (asking) => [inApi(asking)],
  'AWS::ApiGateway::Method': (asking) => [inApi(asking)],
  'AWS::ApiGateway::Resource': (asking) => [inApi(asking)],
  'AWS::ApiGateway::RestApi': (asking) => [
    [asking.gateway('/restapis'), 'apigateway:POST'],
    [asking.gateway(`/restapis/${REST_API}`), 'apigateway:GET PUT PATCH DELETE'],
    tagsInApi(asking),
  ],
  'AWS::ApiGateway::Stage': (asking) => [
    inApi(asking),
    tagsInApi(asking),
    // For access logs.
    ['*', 'logs:CreateLogDelivery DeleteLogDelivery DescribeLogGroups DescribeResourcePolicies GetLogDelivery'],
    ['*', 'logs:ListLogDeliveries PutResourcePolicy UpdateLogDelivery'],
  ],
  'AWS::CloudWatch::Alarm': ({ arn, name }) => [
    [arn('cloudwatch', `alarm:${name()}`), `cloudwatch:PutMetricAlarm DeleteAlarms ${TAGS}`],
    ['*', 'cloudwatch:DescribeAlarms'],
  ],
  'AWS::CloudWatch::Dashboard': ({ account, name }) => [
    [`arn:aws:cloudwatch::${account}:dashboard/${name()}`, 'cloudwatch:PutDashboard DeleteDashboards GetDashboard'],
  ],
  'AWS::CodeDeploy::Application': ({ arn, name }) => [
    [
      arn('codedeploy', `application:${name()}`),
      `codedeploy:CreateApplication DeleteApplication GetApplication ${TAGS}`,
    ],
  ],
  'AWS::CodeDeploy::DeploymentGroup': ({ Properties, arn, name, nameOfRef, pass }) => [
    [
      arn('codedeploy', `deploymentgroup:${nameOfRef(Properties.ApplicationName)}/${name()}`),
      'codedeploy:CreateDeploymentGroup DeleteDeploymentGroup GetDeploymentGroup UpdateDeploymentGroup',
    ],
    pass(Properties.ServiceRoleArn, 'codedeploy'),
  ],
  'AWS::DynamoDB::Table': ({ arn, name }) => [
    [arn('dynamodb', `table/${name()}`), `dynamodb:CreateTable DeleteTable DescribeTable UpdateTable ${TAGGING}`],
    [arn('dynamodb', `table/${name()}`), 'dynamodb:DescribeContinuousBackups UpdateContinuousBackups'],
    [arn('dynamodb', `table/${name()}`), 'dynamodb:DescribeTimeToLive UpdateTimeToLive ListTagsOfResource'],
  ],
  'AWS::Events::Rule': ({ Properties, arn, name, pass }) => [
    [arn('events', `rule/${name()}`), `events:PutRule DeleteRule DescribeRule ${TAGS}`],
    [arn('events', `rule/${name()}`), 'events:PutTargets RemoveTargets ListTargetsByRule'],
    ...Properties.Targets.flatMap(({ RoleArn }: { RoleArn?: object }) => (RoleArn ? [pass(RoleArn, 'events')] : [])),
  ],
  'AWS::IAM::Role': ({ id, Properties, roleArn, boundaryOf }) => [
    [roleArn(id), 'iam:CreateRole PutRolePolicy', boundaryOf(id)],
    ...(Properties.PermissionsBoundary ? [[roleArn(id), 'iam:PutRolePermissionsBoundary', boundaryOf(id)] as Row] : []),
    [roleArn(id), 'iam:DeleteRole GetRole DeleteRolePolicy GetRolePolicy ListRolePolicies ListAttachedRolePolicies'],
    [roleArn(id), 'iam:TagRole UntagRole'],
    // By the tags of the stack.
    [roleArn(id), 'iam:UpdateAssumeRolePolicy', { 'aws:ResourceTag/service': 'container-file-promotion' }],
    ...(Properties.ManagedPolicyArns ?? []).flatMap((policy: object): Row[] => {
      const attached = { 'iam:PolicyARN': textOf(policy, { 'AWS::Partition': 'aws' }) }
      return [
        [roleArn(id), 'iam:AttachRolePolicy', { ...boundaryOf(id), ...attached }],
        [roleArn(id), 'iam:DetachRolePolicy'],
      ]
    }),
  ],
  'AWS::IAM::RolePolicy': ({ Properties, refOf, roleArn, boundaryOf }) => [
    [roleArn(refOf(Properties.RoleName)), 'iam:PutRolePolicy', boundaryOf(refOf(Properties.RoleName))],
    [roleArn(refOf(Properties.RoleName)), 'iam:DeleteRolePolicy GetRolePolicy'],
  ],
  'AWS::Lambda::Alias': ({ Properties, UpdatePolicy, arn, nameOfRef, functionOf }) => {
    const { CodeDeployLambdaAliasUpdate: update } = UpdatePolicy as Record<string, Record<string, object>>
    const [application, group] = [update?.ApplicationName, update?.DeploymentGroupName].map((each = {}) =>
      nameOfRef(each),
    )
    const deploying = 'codedeploy:CreateDeployment GetDeployment StopDeployment'
    return [
      [functionOf(Properties.FunctionName), 'lambda:CreateAlias UpdateAlias DeleteAlias GetAlias'],
      // What CodeDeploy is asked for when the alias gets another version.
      [arn('codedeploy', `deploymentgroup:${application}/${group}`), deploying],
      [
        arn('codedeploy', `application:${application}`),
        'codedeploy:RegisterApplicationRevision GetApplicationRevision',
      ],
      [arn('codedeploy', 'deploymentconfig:CodeDeployDefault.LambdaAllAtOnce'), 'codedeploy:GetDeploymentConfig'],
    ]
  },
  'AWS::Lambda::EventInvokeConfig': ({ Properties, functionOf }) => [
    [
      functionOf(Properties.FunctionName),
      `lambda:${['Put', 'Update', 'Delete', 'Get'].map((verb) => `${verb}FunctionEventInvokeConfig`).join(' ')}`,
    ],
  ],
  'AWS::Lambda::Function': ({ Properties, arn, name, pass }) => [
    [arn('lambda', `function:${name()}`), `lambda:CreateFunction DeleteFunction GetFunction ListTags ${TAGGING}`],
    [
      arn('lambda', `function:${name()}`),
      'lambda:GetFunctionConfiguration UpdateFunctionConfiguration UpdateFunctionCode',
    ],
    [arn('lambda', `function:${name()}`), 'lambda:PutFunctionConcurrency DeleteFunctionConcurrency'],
    pass(Properties.Role, 'lambda'),
  ],
  'AWS::Lambda::Permission': ({ Properties, functionOf }) => [
    [functionOf(Properties.FunctionName), 'lambda:AddPermission RemovePermission GetPolicy'],
  ],
  'AWS::Lambda::Version': ({ Properties, functionOf }) => [
    [functionOf(Properties.FunctionName), 'lambda:PublishVersion ListVersionsByFunction DeleteFunction'],
  ],
  'AWS::Logs::LogGroup': ({ arn, name }) => [
    [
      arn('logs', `log-group:${name()}`),
      `logs:CreateLogGroup DeleteLogGroup AssociateKmsKey DisassociateKmsKey ${TAGS}`,
    ],
    [arn('logs', `log-group:${name()}`), 'logs:PutRetentionPolicy DeleteRetentionPolicy'],
    ['*', 'logs:DescribeLogGroups'],
  ],
  'AWS::Logs::QueryDefinition': () => [['*', 'logs:PutQueryDefinition DeleteQueryDefinition DescribeQueryDefinitions']],
  'AWS::Route53::RecordSet': ({ Properties }) => [
    [
      `arn:aws:route53:::hostedzone/${Properties.HostedZoneId}`,
      'route53:ChangeResourceRecordSets GetHostedZone ListResourceRecordSets',
    ],
    ['arn:aws:route53:::change/C123', 'route53:GetChange'],
  ],
  'AWS::S3::Bucket': inBucket(
    's3:CreateBucket DeleteBucket ListBucket GetBucketLocation GetEncryptionConfiguration PutEncryptionConfiguration GetLifecycleConfiguration PutLifecycleConfiguration GetBucketOwnershipControls PutBucketOwnershipControls GetBucketPublicAccessBlock PutBucketPublicAccessBlock GetBucketTagging PutBucketTagging GetBucketVersioning PutBucketVersioning',
    ({ name }) => name(),
  ),
  'AWS::S3::BucketPolicy': inBucket(
    's3:PutBucketPolicy GetBucketPolicy DeleteBucketPolicy',
    ({ Properties, nameOfRef }) => nameOfRef(Properties.Bucket),
  ),
  'AWS::SNS::Subscription': ({ Properties: { TopicArn }, arn, nameOfRef }) => {
    const topic = typeof TopicArn === 'string' ? TopicArn : arn('sns', nameOfRef(TopicArn))
    return [
      [topic, 'sns:Subscribe ListSubscriptionsByTopic'],
      [`${topic}:0aaaaaaa-1111`, 'sns:Unsubscribe GetSubscriptionAttributes'],
    ]
  },
  'AWS::SNS::Topic': ({ arn, name }) => [
    [arn('sns', name()), `sns:CreateTopic DeleteTopic GetTopicAttributes SetTopicAttributes ${TAGS}`],
  ],
  'AWS::SNS::TopicPolicy': ({ Properties, arn, nameOfRef }) => [
    [arn('sns', nameOfRef(Properties.Topics[0])), 'sns:GetTopicAttributes SetTopicAttributes'],
  ],
  'AWS::StepFunctions::StateMachine': ({ Properties, arn, name, pass }) => [
    [arn('states', `stateMachine:${name()}`), `states:CreateStateMachine DeleteStateMachine ${TAGS}`],
    [arn('states', `stateMachine:${name()}`), 'states:DescribeStateMachine UpdateStateMachine'],
    pass(Properties.RoleArn, 'states'),
  ],
  'AWS::WAFv2::WebACLAssociation': ({ Properties, gateway }) => [
    [Properties.WebACLArn, 'wafv2:AssociateWebACL DisassociateWebACL GetWebACL GetWebACLForResource'],
    [gateway(`/restapis/${REST_API}/stages/prod`), 'wafv2:AssociateWebACL DisassociateWebACL'],
    [gateway(`/restapis/${REST_API}/stages/prod`), 'apigateway:SetWebACL'],
  ],
}
