import { askingFor } from './cloudformation-asking.ts'
import { type Named, nameOf, type StackPlace } from './cloudformation-names.ts'
import { accessesOfGateway } from './gateway-accesses.ts'
import type { Access } from './iam-accesses.ts'
import { textOf } from './intrinsics.ts'
import type { Resource } from './packages.ts'

const TAGGING = 'TagResource UntagResource'

/** What CloudFormation asks for with the rights of whoever deploys: to create, read, change and delete every resource. */
export function accessesOfStack(resources: Readonly<Record<string, Resource>>, place: StackPlace): Access[] {
  return Object.keys(resources).flatMap((id) => accessesOfResource(id, { ...place, resources }))
}

function accessesOfResource(id: string, stack: Named): Access[] {
  const asking = askingFor(id, stack)
  const { resources, account } = stack
  const { Type, Properties, on, arn, name, refOf, roleArn, boundaryOf, pass, functionOf } = asking
  switch (Type) {
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
    case 'AWS::Logs::QueryDefinition':
      return on('*', 'logs', 'PutQueryDefinition DeleteQueryDefinition DescribeQueryDefinitions')
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
    default:
      return accessesOfGateway(asking, stack)
  }
}
