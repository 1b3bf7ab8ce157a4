import { CloudFormation, paginateListStackResources, type Stack } from '@aws-sdk/client-cloudformation'
import { DynamoDB } from '@aws-sdk/client-dynamodb'

const NEVER = AbortSignal.any([])
const GONE = /^(DELETE_COMPLETE|CREATE_FAILED)$/

/** @returns none when there is no such stack; a physical id is a name, or whatever else Ref gives */
export async function resourcesOf(StackName: string, abortSignal = NEVER) {
  const found: { logicalId: string; physicalId: string; type: string }[] = []
  try {
    for await (const page of paginateListStackResources(
      { client: new CloudFormation() },
      { StackName },
      { abortSignal },
    )) {
      for (const summary of page.StackResourceSummaries ?? []) {
        const { LogicalResourceId: logicalId, PhysicalResourceId: physicalId, ResourceType: type } = summary
        const isGone = GONE.test(summary.ResourceStatus ?? '')
        if (logicalId && physicalId && type && !isGone) found.push({ logicalId, physicalId, type })
      }
    }
  } catch (error) {
    // CloudFormation has no error of its own for a stack that is not there.
    if (!/^ValidationError: .*does not exist/.test(`${error}`)) throw error
  }
  return found
}

export const describeStack = async (StackName: string, abortSignal = NEVER): Promise<Partial<Stack>> =>
  (await new CloudFormation().describeStacks({ StackName }, { abortSignal })).Stacks?.[0] ?? {}

/** By name (infra/resources/outputs.yml). @throws when there is no such stack */
export async function outputsOf(stackName: string, signal: AbortSignal) {
  const { Outputs = [] } = await describeStack(stackName, signal)
  return Object.fromEntries(Outputs.map(({ OutputKey, OutputValue }) => [`${OutputKey}`, OutputValue]))
}

/**
 * Protects a deployed stack and its tables from deletion, or ends that. The template does not: a protected table could not
 * be removed when the deployment that made it fails. @returns what was changed, one line each
 */
export async function protectStack(StackName: string, isProtected: boolean): Promise<string[]> {
  const changes: string[] = []
  const word = isProtected ? 'protected from deletion' : 'no longer protected from deletion'
  const { EnableTerminationProtection = false } = await describeStack(StackName)
  if (EnableTerminationProtection !== isProtected) {
    await new CloudFormation().updateTerminationProtection({ StackName, EnableTerminationProtection: isProtected })
    changes.push(`stack ${StackName}: ${word}`)
  }
  const client = new DynamoDB()
  for (const { type, physicalId: TableName } of await resourcesOf(StackName)) {
    if (type !== 'AWS::DynamoDB::Table') continue
    const { Table } = await client.describeTable({ TableName })
    if ((Table?.DeletionProtectionEnabled ?? false) === isProtected) continue
    await client.updateTable({ TableName, DeletionProtectionEnabled: isProtected })
    changes.push(`table ${TableName}: ${word}`)
  }
  return changes
}
