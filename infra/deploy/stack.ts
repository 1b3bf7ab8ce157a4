import { CloudFormationClient, DescribeStacksCommand, paginateListStackResources } from '@aws-sdk/client-cloudformation'

const GONE = /^(DELETE_COMPLETE|CREATE_FAILED)$/

/** @returns none when there is no such stack; a physical id is a name, or whatever else Ref gives */
export async function resourcesOf(stackName: string, signal?: AbortSignal) {
  const client = new CloudFormationClient({})
  const options = signal ? { client, abortSignal: signal } : { client }
  const found: { logicalId: string; physicalId: string; type: string }[] = []
  try {
    for await (const page of paginateListStackResources(options, { StackName: stackName })) {
      for (const summary of page.StackResourceSummaries ?? []) {
        const { LogicalResourceId: logicalId, PhysicalResourceId: physicalId, ResourceType: type } = summary
        const isGone = GONE.test(summary.ResourceStatus ?? '')
        if (logicalId && physicalId && type && !isGone) found.push({ logicalId, physicalId, type })
      }
    }
  } catch (error) {
    if (!isMissingStack(error)) throw error
  }
  return found
}

/** By name (infra/resources/outputs.yml). @throws when there is no such stack */
export async function outputsOf(StackName: string, abortSignal: AbortSignal) {
  const { Stacks } = await new CloudFormationClient({}).send(new DescribeStacksCommand({ StackName }), { abortSignal })
  const outputs = Stacks?.[0]?.Outputs ?? []
  return Object.fromEntries(outputs.map(({ OutputKey, OutputValue }) => [`${OutputKey}`, OutputValue]))
}

/** CloudFormation has no error of its own for it: ValidationError, "Stack with id … does not exist". */
function isMissingStack(error: unknown): boolean {
  return error instanceof Error && error.name === 'ValidationError' && /does not exist/.test(error.message)
}
