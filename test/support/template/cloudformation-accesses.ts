import { type Asking, accessesIn, askingFor, type Row } from './cloudformation-asking.ts'
import type { StackPlace } from './cloudformation-names.ts'
import type { Access } from './iam-accesses.ts'
import { textOf } from './intrinsics.ts'
import type { Resource } from './packages.ts'

/** CloudFormation asks for these with the rights of whoever deploys: to create, read, change and delete every resource. */
export function accessesOfStack(resources: Readonly<Record<string, Resource>>, place: StackPlace): Access[] {
  return Object.entries(resources).flatMap(([id, { Type }]) => {
    const type = Type.replace('AWS::', '')
    const lines = LINES.filter(([of]) => of === type)
    const more = MORE[type]
    if (lines.length === 0 && more === undefined)
      throw new Error(`${Type} is new: say in test/support/template what it takes`)
    const asking = askingFor(id, { ...place, resources })
    return accessesIn([...lines.map((line) => rowOf(line, asking)), ...(more?.(asking) ?? [])])
  })
}

const TAGGING = 'TagResource UntagResource'
const TAGS = `ListTagsForResource ${TAGGING}`
/** API Gateway makes up the id of the one REST API. */
const API = '/restapis/a1b2c3d4e5'

/**
 * The type, the service, the resource, and the actions that are asked for on it. NAME stands for the name of the resource
 * itself, {Property} for that of the resource that a property refers to, FUNCTION for that of the function that it is for.
 */
const LINES = `
ApiGateway::Account apigateway /account GET PATCH
ApiGateway::BasePathMapping apigateway /domainnames/{DomainName}/basepathmappings GET POST PUT PATCH DELETE
ApiGateway::Deployment apigateway ${API}/parts GET POST PUT PATCH DELETE
ApiGateway::DomainName apigateway /domainnames POST
ApiGateway::DomainName apigateway /domainnames/NAME GET PATCH DELETE
ApiGateway::DomainName apigateway /tags/arn GET PUT DELETE
ApiGateway::GatewayResponse apigateway ${API}/parts GET POST PUT PATCH DELETE
ApiGateway::Method apigateway ${API}/parts GET POST PUT PATCH DELETE
ApiGateway::Resource apigateway ${API}/parts GET POST PUT PATCH DELETE
ApiGateway::RestApi apigateway /restapis POST
ApiGateway::RestApi apigateway ${API} GET PUT PATCH DELETE
ApiGateway::RestApi apigateway /tags/arn GET PUT DELETE
ApiGateway::Stage apigateway ${API}/parts GET POST PUT PATCH DELETE
ApiGateway::Stage apigateway /tags/arn GET PUT DELETE
ApiGateway::Stage logs * CreateLogDelivery DeleteLogDelivery GetLogDelivery ListLogDeliveries UpdateLogDelivery
ApiGateway::Stage logs * DescribeLogGroups DescribeResourcePolicies PutResourcePolicy
CloudWatch::Alarm cloudwatch alarm:NAME PutMetricAlarm DeleteAlarms ${TAGS}
CloudWatch::Alarm cloudwatch * DescribeAlarms
CodeDeploy::Application codedeploy application:NAME CreateApplication DeleteApplication GetApplication ${TAGS}
CodeDeploy::DeploymentGroup codedeploy deploymentgroup:{ApplicationName}/NAME CreateDeploymentGroup DeleteDeploymentGroup
CodeDeploy::DeploymentGroup codedeploy deploymentgroup:{ApplicationName}/NAME GetDeploymentGroup UpdateDeploymentGroup
DynamoDB::Table dynamodb table/NAME CreateTable DeleteTable DescribeTable UpdateTable ${TAGGING}
DynamoDB::Table dynamodb table/NAME DescribeContinuousBackups UpdateContinuousBackups
DynamoDB::Table dynamodb table/NAME DescribeTimeToLive UpdateTimeToLive ListTagsOfResource
DynamoDB::Table dynamodb table/NAME DescribeContributorInsights DescribeKinesisStreamingDestination GetResourcePolicy
Events::Rule events rule/NAME PutRule DeleteRule DescribeRule ${TAGS}
Events::Rule events rule/NAME PutTargets RemoveTargets ListTargetsByRule
Lambda::Alias lambda FUNCTION CreateAlias UpdateAlias DeleteAlias GetAlias
Lambda::Alias codedeploy deploymentconfig:CodeDeployDefault.LambdaAllAtOnce GetDeploymentConfig
Lambda::EventInvokeConfig lambda FUNCTION PutFunctionEventInvokeConfig UpdateFunctionEventInvokeConfig
Lambda::EventSourceMapping lambda event-source-mapping:0aaaaaaa-1111 ListTags ${TAGGING}
Lambda::EventInvokeConfig lambda FUNCTION DeleteFunctionEventInvokeConfig GetFunctionEventInvokeConfig
Lambda::Function lambda function:NAME CreateFunction DeleteFunction GetFunction ListTags ${TAGGING}
Lambda::Function lambda function:NAME GetFunctionConfiguration UpdateFunctionConfiguration UpdateFunctionCode
Lambda::Function lambda function:NAME PutFunctionConcurrency DeleteFunctionConcurrency
Lambda::Permission lambda FUNCTION AddPermission RemovePermission GetPolicy
Lambda::Version lambda FUNCTION PublishVersion ListVersionsByFunction DeleteFunction
Logs::LogGroup logs log-group:NAME CreateLogGroup DeleteLogGroup AssociateKmsKey DisassociateKmsKey ${TAGS}
Logs::LogGroup logs log-group:NAME PutRetentionPolicy DeleteRetentionPolicy
Logs::LogGroup logs log-group:NAME GetDataProtectionPolicy DescribeIndexPolicies
Logs::LogGroup logs * DescribeLogGroups
Logs::QueryDefinition logs * PutQueryDefinition DeleteQueryDefinition DescribeQueryDefinitions
SNS::Topic sns NAME CreateTopic DeleteTopic GetDataProtectionPolicy GetTopicAttributes SetTopicAttributes ${TAGS}
SNS::TopicPolicy sns {Topics} GetTopicAttributes SetTopicAttributes
SQS::Queue sqs NAME CreateQueue DeleteQueue GetQueueUrl GetQueueAttributes SetQueueAttributes
SQS::Queue sqs NAME ListQueueTags TagQueue UntagQueue
SQS::QueuePolicy sqs {Queues} GetQueueAttributes SetQueueAttributes
StepFunctions::StateMachine states stateMachine:NAME CreateStateMachine DeleteStateMachine ${TAGS}
StepFunctions::StateMachine states stateMachine:NAME DescribeStateMachine UpdateStateMachine
WAFv2::WebACLAssociation apigateway ${API}/stages/prod SetWebACL
XRay::SamplingRule xray * GetSamplingRules
XRay::SamplingRule xray sampling-rule/links-a1b2c3 CreateSamplingRule DeleteSamplingRule UpdateSamplingRule
XRay::SamplingRule xray sampling-rule/links-a1b2c3 ListTagsForResource ${TAGGING}`
  .split('\n')
  .map((line) => line.split(' '))

function rowOf([, service = '', resource = '', ...actions]: string[], asking: Asking): Row {
  const { arn, gateway, name, nameOfRef, functionOf, Properties } = asking
  const asked = `${service}:${actions.join(' ')}`
  if (resource === '*') return ['*', asked]
  if (resource === 'FUNCTION') return [functionOf(Properties.FunctionName), asked]
  const referred = (_: string, property: string) => nameOfRef([Properties[property]].flat()[0])
  const named = resource.replace(/\{(\w+)\}/, referred).replace('NAME', name)
  return [service === 'apigateway' ? gateway(named) : arn(service, named), asked]
}

const inBucket = (bucket: string, actions: string, { account }: Asking): Row[] => [
  [`arn:aws:s3:::${bucket}`, actions, { 'aws:ResourceAccount': account }],
]

/** DynamoDB developer guide, encryption at rest: what whoever chooses the key of a table needs, by way of DynamoDB. */
export const TO_CHOOSE_A_KEY =
  'kms:CreateGrant Decrypt DescribeKey Encrypt GenerateDataKey GenerateDataKeyWithoutPlaintext ReEncryptFrom ReEncryptTo'

/** Types that need other names, conditions, or roles that are passed on. */
const MORE: Readonly<Record<string, (asking: Asking) => Row[]>> = {
  'ApiGateway::Account': ({ Properties, pass }) => [pass(Properties.CloudWatchRoleArn, 'apigateway')],
  'ApiGateway::DomainName': ({ account }) => [
    // Made once in an account.
    [
      `arn:aws:iam::${account}:role/aws-service-role/ops.apigateway.amazonaws.com/AWSServiceRoleForAPIGateway`,
      'iam:CreateServiceLinkedRole',
      { 'iam:AWSServiceName': 'ops.apigateway.amazonaws.com' },
    ],
  ],
  'ApiGateway::RestApi': ({ Properties, gateway }) =>
    'Policy' in Properties ? [[gateway(API), 'apigateway:UpdateRestApiPolicy']] : [],
  'CloudWatch::Dashboard': ({ account, name }) => [
    [`arn:aws:cloudwatch::${account}:dashboard/${name()}`, 'cloudwatch:PutDashboard DeleteDashboards GetDashboard'],
  ],
  'CodeDeploy::DeploymentGroup': ({ Properties, pass }) => [pass(Properties.ServiceRoleArn, 'codedeploy')],
  'DynamoDB::Table': ({ Properties: { SSESpecification }, region }) => {
    const context = { 'kms:ViaService': `dynamodb.${region}.amazonaws.com` }
    const key = SSESpecification.KMSMasterKeyId
    return key ? [[key, TO_CHOOSE_A_KEY, context]] : []
  },
  'Events::Rule': ({ Properties, pass }) =>
    Properties.Targets.flatMap(({ RoleArn }: { RoleArn?: object }) => (RoleArn ? [pass(RoleArn, 'events')] : [])),
  'IAM::Role': ({ id, Properties, roleArn, boundaryOf }) => [
    [roleArn(id), 'iam:CreateRole PutRolePolicy', boundaryOf(id)],
    ...(Properties.PermissionsBoundary ? [[roleArn(id), 'iam:PutRolePermissionsBoundary', boundaryOf(id)] as Row] : []),
    [roleArn(id), 'iam:DeleteRole GetRole DeleteRolePolicy GetRolePolicy ListRolePolicies ListAttachedRolePolicies'],
    [roleArn(id), 'iam:TagRole UntagRole'],
    // Allowed by the tags of the stack.
    [roleArn(id), 'iam:UpdateAssumeRolePolicy', { 'aws:ResourceTag/service': 'container-file-promotion' }],
    ...(Properties.ManagedPolicyArns ?? []).flatMap((policy: object): Row[] => {
      const attached = { 'iam:PolicyARN': textOf(policy, { 'AWS::Partition': 'aws' }) }
      return [
        [roleArn(id), 'iam:AttachRolePolicy', { ...boundaryOf(id), ...attached }],
        [roleArn(id), 'iam:DetachRolePolicy'],
      ]
    }),
  ],
  'IAM::RolePolicy': ({ Properties, refOf, roleArn, boundaryOf }) => [
    [roleArn(refOf(Properties.RoleName)), 'iam:PutRolePolicy', boundaryOf(refOf(Properties.RoleName))],
    [roleArn(refOf(Properties.RoleName)), 'iam:DeleteRolePolicy GetRolePolicy'],
  ],
  // CodeDeploy is asked for these when the alias gets another version.
  'Lambda::Alias': ({ UpdatePolicy, arn, nameOfRef }) => {
    const { CodeDeployLambdaAliasUpdate: update = {} } = UpdatePolicy as Record<string, Record<string, object>>
    const application = nameOfRef(update.ApplicationName ?? {})
    const group = `deploymentgroup:${application}/${nameOfRef(update.DeploymentGroupName ?? {})}`
    const revision = 'codedeploy:RegisterApplicationRevision GetApplicationRevision'
    return [
      [arn('codedeploy', group), 'codedeploy:CreateDeployment GetDeployment StopDeployment'],
      [arn('codedeploy', `application:${application}`), revision],
    ]
  },
  'Lambda::EventSourceMapping': ({ Properties, functionOf }) => [
    [
      '*',
      'lambda:CreateEventSourceMapping GetEventSourceMapping UpdateEventSourceMapping DeleteEventSourceMapping',
      { 'lambda:FunctionArn': functionOf(Properties.FunctionName) },
    ],
  ],
  'Lambda::Function': ({ Properties, pass }) => [pass(Properties.Role, 'lambda')],
  'Route53::RecordSet': ({ Properties }) => [
    [
      `arn:aws:route53:::hostedzone/${Properties.HostedZoneId}`,
      'route53:ChangeResourceRecordSets GetHostedZone ListResourceRecordSets',
    ],
    ['arn:aws:route53:::change/C123', 'route53:GetChange'],
  ],
  'S3::Bucket': (asking) =>
    inBucket(
      asking.name(),
      's3:CreateBucket DeleteBucket ListBucket GetBucketLocation GetEncryptionConfiguration PutEncryptionConfiguration GetLifecycleConfiguration PutLifecycleConfiguration GetBucketOwnershipControls PutBucketOwnershipControls GetBucketPublicAccessBlock PutBucketPublicAccessBlock GetBucketTagging PutBucketTagging GetBucketVersioning PutBucketVersioning',
      asking,
    ),
  'S3::BucketPolicy': (asking) =>
    inBucket(
      asking.nameOfRef(asking.Properties.Bucket),
      's3:PutBucketPolicy GetBucketPolicy DeleteBucketPolicy',
      asking,
    ),
  'SNS::Subscription': ({ Properties: { TopicArn }, arn, nameOfRef }) => {
    const topic = typeof TopicArn === 'string' ? TopicArn : arn('sns', nameOfRef(TopicArn))
    return [
      [topic, 'sns:Subscribe ListSubscriptionsByTopic'],
      [`${topic}:0aaaaaaa-1111`, 'sns:Unsubscribe GetSubscriptionAttributes'],
    ]
  },
  'StepFunctions::StateMachine': ({ Properties, pass }) => [pass(Properties.RoleArn, 'states')],
  'WAFv2::WebACLAssociation': ({ Properties, gateway }) => [
    [Properties.WebACLArn, 'wafv2:AssociateWebACL DisassociateWebACL GetWebACL GetWebACLForResource'],
    [gateway(`${API}/stages/prod`), 'wafv2:AssociateWebACL DisassociateWebACL'],
  ],
}
