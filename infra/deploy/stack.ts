import {
  CloudFormationClient,
  paginateListStackResources,
  type StackResourceSummary,
} from '@aws-sdk/client-cloudformation'

/** A resource of a stack that is there. */
export interface StackResource {
  logicalId: string
  /** Its name, or what else Ref gives. */
  physicalId: string
  type: string
}

const GONE = /^(DELETE_COMPLETE|CREATE_FAILED)$/

/** @returns none when there is no such stack */
export async function resourcesOf(stackName: string, signal?: AbortSignal): Promise<StackResource[]> {
  const client = new CloudFormationClient({})
  const options = signal ? { client, abortSignal: signal } : { client }
  const found: StackResource[] = []
  try {
    for await (const page of paginateListStackResources(options, { StackName: stackName })) {
      found.push(...(page.StackResourceSummaries ?? []).flatMap(toResource))
    }
  } catch (error) {
    if (!isMissingStack(error)) throw error
  }
  return found
}

function toResource(summary: StackResourceSummary): StackResource[] {
  const { LogicalResourceId: logicalId, PhysicalResourceId: physicalId, ResourceType: type } = summary
  if (!logicalId || !physicalId || !type || GONE.test(summary.ResourceStatus ?? '')) return []
  return [{ logicalId, physicalId, type }]
}

/** CloudFormation has no error of its own for it: ValidationError, "Stack with id … does not exist". */
export function isMissingStack(error: unknown): boolean {
  return error instanceof Error && error.name === 'ValidationError' && /does not exist/.test(error.message)
}
