import { APIGatewayClient, GetAccountCommand } from '@aws-sdk/client-api-gateway'
import { DescribeTableCommand, DynamoDBClient, ResourceNotFoundException } from '@aws-sdk/client-dynamodb'
import { resourcesOf, type StackResource } from './stack.ts'

/** What is about to be deployed, as far as the account has a say in it. */
export interface Intention {
  stackName: string
  createsGatewayLogRole: boolean
  /** That the template makes, by the parameter that would bring one along. */
  newTables: Readonly<Record<string, string>>
  /** That the parameters bring along. */
  existingTables: Readonly<Record<string, string>>
}

export interface Findings {
  /** The deployment would fail, half way. */
  faults: string[]
  /** What could not be looked at. */
  warnings: string[]
}

/** Looks at the account for what would let the deployment fail after it has begun. Changes nothing. */
export async function examineAccount(intention: Intention): Promise<Findings> {
  const findings: Findings = { faults: [], warnings: [] }
  const looks = [
    { action: 'apigateway:GET on /account', look: () => faultsInGatewayLogRole(intention) },
    {
      action: 'cloudformation:ListStackResources and dynamodb:DescribeTable',
      look: async () => faultsInTables(intention, await resourcesOf(intention.stackName)),
    },
  ]
  for (const { action, look } of looks) {
    try {
      findings.faults.push(...(await look()))
    } catch (error) {
      if (!isDenied(error)) throw error
      findings.warnings.push(`these credentials lack ${action}: not looked at before the deployment`)
    }
  }
  return findings
}

/** API Gateway developer guide, "Set up CloudWatch logging": one role for all APIs of an account in a region. */
async function faultsInGatewayLogRole({ stackName, createsGatewayLogRole }: Intention): Promise<string[]> {
  const { cloudwatchRoleArn: role } = await new APIGatewayClient({}).send(new GetAccountCommand({}))
  if (role && createsGatewayLogRole && !role.includes(`/${stackName}-GatewayLogRole-`)) {
    return [
      `createGatewayLogRole is true, but API Gateway has a role for logs in this account and region (${role}): leave it out, and that one is used`,
    ]
  }
  if (role || createsGatewayLogRole) return []
  return [
    'API Gateway has no role to write logs with in this account and region: add --param createGatewayLogRole=true, once for all stages',
  ]
}

async function faultsInTables(intention: Intention, resources: StackResource[]): Promise<string[]> {
  const client = new DynamoDBClient({})
  const isOfStack = (name: string) => resources.some(({ physicalId }) => physicalId === name)
  const faults: string[] = []
  for (const [parameter, name] of Object.entries(intention.newTables)) {
    if (isOfStack(name) || !(await exists(name, client))) continue
    faults.push(
      `table ${name} is there already, and not of this stack: bring it along with ${parameter}=${name}, or delete it`,
    )
  }
  for (const [parameter, name] of Object.entries(intention.existingTables)) {
    if (!(await exists(name, client))) faults.push(`${parameter} is "${name}": there is no such table`)
  }
  return faults
}

async function exists(TableName: string, client: DynamoDBClient): Promise<boolean> {
  try {
    await client.send(new DescribeTableCommand({ TableName }))
    return true
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return false
    throw error
  }
}

const isDenied = (error: unknown) => error instanceof Error && /^AccessDenied|^UnauthorizedOperation/.test(error.name)
