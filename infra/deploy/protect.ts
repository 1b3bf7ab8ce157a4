import {
  CloudFormationClient,
  DescribeStacksCommand,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation'
import { DescribeTableCommand, DynamoDBClient, UpdateTableCommand } from '@aws-sdk/client-dynamodb'
import { resourcesOf } from './stack.ts'

/**
 * Protects a deployed stack and its tables from deletion, or ends that. The template does not: a protected table
 * could not be removed when the deployment that made it fails. @returns what was changed, one line each
 */
export async function protectStack(stackName: string, isProtected: boolean): Promise<string[]> {
  const changes: string[] = []
  const word = isProtected ? 'protected from deletion' : 'no longer protected from deletion'
  if (await protectFromTermination(stackName, isProtected)) changes.push(`stack ${stackName}: ${word}`)
  const client = new DynamoDBClient({})
  for (const { type, physicalId } of await resourcesOf(stackName)) {
    if (type !== 'AWS::DynamoDB::Table') continue
    const { Table } = await client.send(new DescribeTableCommand({ TableName: physicalId }))
    if ((Table?.DeletionProtectionEnabled ?? false) === isProtected) continue
    await client.send(new UpdateTableCommand({ TableName: physicalId, DeletionProtectionEnabled: isProtected }))
    changes.push(`table ${physicalId}: ${word}`)
  }
  return changes
}

async function protectFromTermination(StackName: string, isProtected: boolean): Promise<boolean> {
  const client = new CloudFormationClient({})
  const { Stacks } = await client.send(new DescribeStacksCommand({ StackName }))
  if ((Stacks?.[0]?.EnableTerminationProtection ?? false) === isProtected) return false
  const command = new UpdateTerminationProtectionCommand({ StackName, EnableTerminationProtection: isProtected })
  await client.send(command)
  return true
}
