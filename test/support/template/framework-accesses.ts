import { accessesIn } from './cloudformation-asking.ts'
import { nameOf, type StackPlace } from './cloudformation-names.ts'
import type { Access } from './iam-accesses.ts'
import type { Resource } from './packages.ts'

/**
 * What the framework asks for itself, what the plugin asks for before and after a deployment, and what
 * docs/deploy.md#roll-back takes.
 */
export function accessesOfFramework(resources: Readonly<Record<string, Resource>>, place: StackPlace): Access[] {
  const { stackName, account, region } = place
  const stack = `arn:aws:cloudformation:${region}:${account}:stack/${stackName}/0aaaaaaa-1111`
  const bucket = `arn:aws:s3:::${nameOf('ServerlessDeploymentBucket', { ...place, resources })}`
  const context = { 'aws:ResourceAccount': account }
  return accessesIn([
    [stack, 'cloudformation:CancelUpdateStack ContinueUpdateRollback DeleteStack GetTemplate ListStackResources'],
    [stack, 'cloudformation:CreateChangeSet DeleteChangeSet DescribeChangeSet ExecuteChangeSet'],
    [stack, 'cloudformation:DescribeStacks DescribeStackEvents DescribeStackResource UpdateTerminationProtection'],
    ['*', 'cloudformation:ValidateTemplate'],
    ['*', 'lambda:GetAccountSettings'],
    ['*', 'sts:GetCallerIdentity'],
    [`${bucket}/serverless/a.zip`, 's3:PutObject GetObject DeleteObject', context],
    [bucket, 's3:ListBucket', context],
    [`arn:aws:apigateway:${region}::/account`, 'apigateway:GET'],
    [
      `arn:aws:lambda:${region}:${account}:function:${stackName}-promote-container-file`,
      'lambda:GetFunctionConcurrency',
    ],
    [`arn:aws:dynamodb:${region}:${account}:table/${stackName}-keys`, 'dynamodb:DescribeTable UpdateTable'],
  ])
}
