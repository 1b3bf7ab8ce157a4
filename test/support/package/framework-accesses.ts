import { nameOf, type StackPlace } from './cloudformation-names.ts'
import type { Access } from './iam-accesses.ts'
import type { Resource } from './packages.ts'

/**
 * What the framework asks for itself, what the plugin asks for before and after a deployment, and what
 * docs/operations.md#roll-back takes.
 */
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
      'CancelUpdateStack ContinueUpdateRollback CreateChangeSet DeleteChangeSet DescribeChangeSet ExecuteChangeSet DeleteStack DescribeStacks DescribeStackEvents DescribeStackResource ListStackResources GetTemplate UpdateTerminationProtection',
    ),
    ...on('*', 'cloudformation', 'ValidateTemplate'),
    ...on('*', 'lambda', 'GetAccountSettings'),
    ...on('*', 'sts', 'GetCallerIdentity'),
    ...on(`${bucket}/serverless/a.zip`, 's3', 'PutObject GetObject DeleteObject', context),
    ...on(bucket, 's3', 'ListBucket', context),
    ...on(`arn:aws:apigateway:${region}::/account`, 'apigateway', 'GET'),
    ...on(
      `arn:aws:lambda:${region}:${account}:function:${stackName}-promote-container-file`,
      'lambda',
      'GetFunctionConcurrency',
    ),
    ...on(`arn:aws:dynamodb:${region}:${account}:table/${stackName}-keys`, 'dynamodb', 'DescribeTable UpdateTable'),
  ]
}
